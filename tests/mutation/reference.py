"""What a Function must answer, found without the checker's own oracle.

The engine differentiates the operations of ``forward`` itself, as it would without a Function
around them. Where it cannot, because they go through NumPy or leave the graph, extrapolated
difference quotients take its place. Either must agree with what the right Function answers:
a question on which nobody agrees with it is not asked of its mutants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gradtool.engine
from gradtool.adapters.common.random_state import generator
from gradtool.cases.sources import ResolvedCase
from tests.mutation.expected import Expected
from tests.mutation.originals import Original
from tests.mutation.point import Array, Point, as_tuple, plain
from tests.mutation.questions import Answer, First, Forward, Question, Row, Second, inner
from tests.mutation.slopes import derivative, kinks

torch: Any = gradtool.engine


@dataclass
class Reference:
    """All that is known of a Function at one case."""

    case: ResolvedCase
    point: Point
    outputs: list[Array | None]
    expected: list[Expected] = field(default_factory=list)
    second: list[Expected] = field(default_factory=list)
    route: str = "the engine's own derivative of forward"
    not_asked: list[str] = field(default_factory=list)
    """Names of questions on which no route agrees with the right Function."""


def reference(original: Original, case: ResolvedCase, seed: int) -> Reference:
    """What `original` must answer at `case`."""
    return _Making(original, case, seed).make()


class _Making:
    """One reference in the making."""

    def __init__(self, original: Original, case: ResolvedCase, seed: int) -> None:
        self.original = original
        self.target = original.target
        self.point = Point.of(self.target, case)
        self.rng = generator(original.id, case.name, seed)
        self.made = Reference(case, self.point, self.point.outputs(self.target.apply))
        self.eps = _eps([*self.point.values, *self.made.outputs])
        self.rows = list(self._rows())

    def make(self) -> Reference:
        if not self.point.places:
            return self.made
        self.kinks = kinks(self.target.apply, self.point, self.rows)
        firsts = [self._first(row) for row in range(len(self.rows))]
        self._firsts(firsts)
        if not self.kinks.any:
            self._second()
            self._forward()
        return self.made

    def _rows(self) -> Iterator[list[Array | None]]:
        """Cotangents: of all outputs at random, the same with other signs, then one by one."""
        graphed = self._graphed()
        first = self._drawn(graphed)
        yield first
        yield [None if each is None else np.asarray(-0.7 * each) for each in first]
        yield self._drawn(graphed)
        if len(graphed) > 1:
            for at in graphed:
                yield self._drawn([at])

    def _graphed(self) -> list[int]:
        """The outputs that have a gradient."""
        with self.point.calling():
            _, args = self.point.tensors([True] * len(self.point.places))
            outputs = as_tuple(self.target.apply(*args))
        return [at for at, each in enumerate(outputs) if each is not None and each.requires_grad]

    def _drawn(self, which: Sequence[int]) -> list[Array | None]:
        return [
            self._like(each) if at in which and each is not None else None
            for at, each in enumerate(self.made.outputs)
        ]

    def _like(self, array: Array) -> Array:
        """Signed numbers that are neither small nor large."""
        values = self.rng.uniform(0.5, 1.5, array.shape) * self.rng.choice([-1, 1], array.shape)
        if array.dtype.kind == "c":
            values = values + 1j * self.rng.uniform(0.5, 1.5, array.shape)
        return np.asarray(values).astype(array.dtype)

    def _first(self, row: int) -> First:
        return First(row, self.rows[row], (True,) * len(self.point.places))

    def _firsts(self, questions: list[First]) -> None:
        """First derivatives, by the engine where that agrees, else by quotients."""
        engine = [self._engine(question) for question in questions]
        expected = [self._expected(q, a) for q, a in zip(questions, engine, strict=True) if a]
        if len(expected) < len(questions) or not all(map(self._settled, expected)):
            found = derivative(self.target.apply, self.point, self.rows)
            expected = [self._expected(q, tuple(a)) for q, a in zip(questions, found, strict=True)]
            self.made.route = "extrapolated difference quotients"
        expected += [some for each in expected[:1] for some in self._subsets(each)]
        self._keep(expected)

    def _subsets(self, whole: Expected) -> Iterator[Expected]:
        """The same with one input at a time."""
        count = len(self.point.places)
        assert isinstance(whole.question, First)
        for at in range(count if count > 1 else 0):
            needs = tuple(each == at for each in range(count))
            question = First(whole.question.row, whole.question.cotangents, needs)
            answer = tuple(a if n else None for a, n in zip(whole.answer, needs, strict=True))
            yield Expected(question, answer, self.eps, whole.between)

    def _expected(self, question: First, answer: Answer) -> Expected:
        left, right = self.kinks.left[question.row], self.kinks.right[question.row]
        return Expected(question, answer, self.eps, tuple(zip(left, right, strict=True)))

    def _second(self) -> None:
        """Second derivatives: with cotangents for all outputs, and for one output at a time."""
        alone = [row for row in self.rows if any(each is None for each in row)]
        for row in [self.rows[0], *alone]:
            weights = [self._like(value) for value in self.point.values]
            self._second_for(Second(row, weights))

    def _second_for(self, question: Second) -> None:
        answer = self._engine(question)
        if answer is None or not self.made.expected or self.made.route.startswith("extra"):
            self.made.not_asked.append(question.name)
            return
        expected = Expected(question, answer, self.eps)
        settled = expected if declares_once(self.target) else self._settled(expected)
        if settled:
            self.made.second.append(settled)
        else:
            self.made.not_asked.append(question.name)

    def _forward(self) -> None:
        """By the transposed derivative: no other forward mode is asked."""
        methods = vars(self.target)
        if "jvp" not in methods:
            return
        values = self.point.values
        tangents: list[Row] = [[self._like(v) for v in values] for _ in range(2)]
        if len(values) > 1:
            tangents += [_only(at, tangents[0]) for at in range(len(values))]
        for whole in list(self.made.expected):
            if isinstance(whole.question, First) and all(whole.question.needs):
                self._keep(self._pushed(whole, tangents))

    def _pushed(self, whole: Expected, tangents: Sequence[Row]) -> list[Expected]:
        """Questions about tangents whose answers follow from the gradients for one row."""
        assert isinstance(whole.question, First)
        row = whole.question.cotangents
        return [
            Expected(Forward(row, each), (inner(whole.answer, each),), self.eps)
            for each in tangents
        ]

    def _engine(self, question: Question) -> Answer | None:
        """The answer of the engine's own derivative; None where it has none."""
        try:
            return question.ask(plain(self.target), self.point)
        except Exception:  # What a forward does with a ctx of no use has no bounds.
            return None

    def _keep(self, expected: list[Expected]) -> None:
        for each in expected:
            settled = self._settled(each)
            if settled:
                self.made.expected.append(settled)
            else:
                self.made.not_asked.append(each.question.name)

    def _settled(self, expected: Expected) -> Expected | None:
        """The answer as mutants are to give it; None where the right Function gives another."""
        return expected.unless_refuted(expected.question.ask(self.target.apply, self.point))


def _only(at: int, row: Row) -> Row:
    return [each if number == at else None for number, each in enumerate(row)]


def _eps(arrays: Sequence[Array | None]) -> float:
    kinds = [each.dtype for each in arrays if each is not None and each.dtype.kind in "fc"]
    return max(float(np.finfo(kind).eps) for kind in kinds)


def declares_once(target: Any) -> bool:
    """Whether a Function says that its backward cannot be differentiated."""
    methods = [getattr(target, name, None) for name in ("backward", "vjp")]
    return any(getattr(each, "_once_differentiable", False) for each in methods)

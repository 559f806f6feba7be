"""Which primitives a case runs, and on which dtypes.

A level of reverse mode sees every primitive that its tensors meet, those that only backward
runs included.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Sequence
from typing import Any

import gradtool.engine as engine
from gradtool.engine._dtypes import dtype
from gradtool.engine._levels.grad import GradLevel
from gradtool.engine._ops.core.primitive import Primitive
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.compare import flatten

Run = tuple[Primitive, dtype]
"""A primitive and the widest dtype among the arguments that are not positions."""

POSITIONS = re.compile(r"index|mask|condition|i\d+")
"""Names of arguments that say where, and are not what is computed with."""


REFUSALS = (RuntimeError, IndexError, TypeError, ValueError)
"""What an operation raises for arguments that it does not take."""


class Recorder(GradLevel):
    """Reverse mode that remembers what it was asked to do."""

    def __init__(self) -> None:
        self.runs: dict[Run, None] = {}

    def apply(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Remember a primitive once it has not refused its arguments."""
        out = super().apply(primitive, args, params)
        dtypes = [tensor.dtype for tensor in _computed_with(primitive, args)]
        self.runs[primitive, max(dtypes, key=lambda each: (each.category, each.itemsize))] = None
        return out


def _computed_with(primitive: Primitive, args: Sequence[Any]) -> list[Any]:
    """The tensors among the arguments; those that are positions only where there are no others."""
    names = itertools.chain(primitive.arguments, itertools.repeat(""))
    tensors = [
        (name, arg)
        for name, arg in zip(names, args, strict=False)
        if isinstance(arg, engine.Tensor)
    ]
    others = [arg for name, arg in tensors if not POSITIONS.fullmatch(name)]
    return others or [arg for _, arg in tensors]


def attempted(case: OpCase, arrays: Sequence[Any]) -> list[Run]:
    """What forward and two runs of backward run with these elements, until something refuses."""
    with Recorder() as level, contextlib.suppress(*REFUSALS):
        _run(level, case, arrays)
    return list(level.runs)


def runs_of(case: OpCase) -> tuple[list[Run], list[Run]]:
    """What forward runs, and what two runs of backward add to it."""
    rng = case.generator()
    with Recorder() as level:
        forward = _run(level, case, [arg.draw(rng) for arg in case.args])
    return forward, [run for run in level.runs if run not in forward]


def _run(level: Recorder, case: OpCase, arrays: Sequence[Any]) -> list[Run]:
    inputs = [level.wrap(engine.tensor(array)) for array in arrays]
    for each in inputs:
        each.requires_grad = is_continuous(each)
    outputs = flatten(case.call(engine, *inputs))
    forward = list(level.runs)
    _differentiate_twice(outputs, [each for each in inputs if each.requires_grad])
    return forward


def _differentiate_twice(outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
    for _ in range(2):
        roots = [each for each in outputs if getattr(each, "requires_grad", False)]
        if not roots:
            return
        cotangents = [engine.ones_like(each, requires_grad=True) for each in roots]
        found = engine.autograd.grad(
            roots, inputs, cotangents, create_graph=True, allow_unused=True
        )
        outputs = [each for each in found if each is not None]


def is_continuous(tensor: Any) -> bool:
    """Whether it may require a gradient."""
    return bool(tensor.is_floating_point() or tensor.is_complex())

"""What of a case is differentiated: its outputs, its gradients, or its tangents.

Each is a plain function of tensors with the tensors to call it at, as the checker takes them.
The gradients and tangents are taken at levels of the transforms, which nest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gradtool.engine as engine
from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.engine._levels.dual import DualLevel
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.compare import flatten, random_like
from tests.engine.ops.own_gate.recording import is_continuous

Tensors = tuple[Any, ...]


class Map(NamedTuple):
    """A function of tensors that returns a tuple of them, and a point."""

    name: str
    function: Callable[..., Tensors]
    point: Tensors

    def subject(self) -> FunctionDifferentiable:
        """It as the checker sees it, with the jvp and vmap that the engine has for all."""
        for each in self.point:
            each.requires_grad = is_continuous(each)
        subject = FunctionDifferentiable(self.function, self.point, {}, name=self.name)
        subject.defines_jvp = subject.defines_vmap = subject.generates_vmap = True
        return subject


def outputs_of(case: OpCase, dtype: str = "float64") -> Map:
    """The outputs that are neither numbers nor tensors without derivatives."""

    def function(*inputs: Any) -> Tensors:
        found = flatten(case.call(engine, *inputs))
        return tuple(
            [each for each in found if isinstance(each, engine.Tensor) and is_continuous(each)]
        )

    return Map(case.name, function, tuple(map(engine.tensor, drawn(case, dtype))))


def gradients_of(of: Map) -> Map | None:
    """The gradients as functions of primals and cotangents; None where there are none."""
    at = [place for place, each in enumerate(of.point) if is_continuous(each)]
    outputs = _tracked(of, at)
    chosen = [place for place, each in enumerate(outputs) if each.requires_grad]
    if not chosen:
        return None
    rng = np.random.default_rng(0)
    cotangents = [engine.tensor(_like(outputs[place], rng)) for place in chosen]

    def function(*values: Any) -> Tensors:
        primals, given = values[: len(of.point)], values[len(of.point) :]
        fixed = _of_some(of, at, primals)
        _, pull = engine.func.vjp(
            lambda *each: tuple([fixed(*each)[place] for place in chosen]),
            *[primals[place] for place in at],
        )
        gradients: Tensors = pull(given)
        return gradients

    return Map(of.name, function, (*of.point, *cotangents))


def tangents_of(of: Map) -> Map:
    """The tangents of the outputs as functions of primals and tangents."""
    at = [place for place, each in enumerate(of.point) if is_continuous(each)]
    rng = np.random.default_rng(0)
    tangents = [engine.tensor(_like(of.point[place], rng)) for place in at]

    def function(*values: Any) -> Tensors:
        primals, given = values[: len(of.point)], values[len(of.point) :]
        # Not `func.jvp`, which is refused within forward mode by hand, which the checker uses.
        with DualLevel() as level:
            duals = map(level.make_dual, [primals[place] for place in at], given)
            outputs = _of_some(of, at, primals)(*duals)
        return tuple([_tangent(level, each) for each in outputs])

    return Map(of.name, function, (*of.point, *tangents))


def _tangent(level: DualLevel, output: Any) -> Any:
    tangent = level.tangent_of(output)
    return engine.zeros_like(level.below(output)).detach() if tangent is None else tangent


def drawn(case: OpCase, dtype: str) -> list[Any]:
    """The arguments' elements; those of floating dtype in this one instead."""
    rng = case.generator()
    return [cast(np.asarray(arg.draw(rng)), dtype) for arg in case.args]


def cast(array: Any, dtype: str) -> Any:
    """Floating and complex elements in a dtype, or in the complex one of its precision.

    Complex numbers that are made from real ones are as large, and of a phase below 1: so the
    domain of a function that is made for positive numbers is not left.
    """
    wanted = np.dtype(dtype)
    if array.dtype.kind == "f":
        if wanted.kind != "c":
            return array.astype(wanted)
        phase = np.random.default_rng(array.size).uniform(-1, 1, array.shape)
        return (array * np.exp(1j * phase)).astype(wanted)
    if array.dtype.kind == "c":
        return array.astype(wanted if wanted.kind == "c" else np.result_type(wanted, np.complex64))
    return array


def _tracked(of: Map, at: list[int]) -> Tensors:
    point = [each.detach().clone() for each in of.point]
    for place in at:
        point[place].requires_grad = True
    return of.function(*point)


def _of_some(of: Map, at: list[int], values: Tensors) -> Callable[..., Tensors]:
    """The function of the arguments at these places, the others as they are in `values`."""

    def function(*some: Any) -> Tensors:
        filled = dict(zip(at, some, strict=True))
        return of.function(*[filled.get(place, each) for place, each in enumerate(values)])

    return function


def _like(tensor: Any, rng: np.random.Generator) -> Any:
    return np.asarray(random_like(tensor, rng)).astype(tensor.dtype.name)

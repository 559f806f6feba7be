"""Outputs and gradients of a Function at a point, each from one call or none where that fails."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.common.executable_lines import tracing
from gradtool.adapters.common.started_call import StartedCall
from gradtool.collect.checkable import Checkable
from gradtool.explore.excuses import function_at
from gradtool.explore.point import Axis, Point
from gradtool.verify.comparison.derivatives import Derivatives
from gradtool.verify.comparison.one_triangle import read_by_triangle
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array, Cotangents, Observation
from gradtool.verify.randomness import generator, signed

_LIKE = 1e-3
"""Difference of two gradients, next to the largest entry, that precision may explain."""

LARGEST = 1e100
"""Outputs and gradients beyond this have left the range in which roundings are known."""

_LOST_DIGITS = 0.05
"""Difference of an output in few digits, next to its largest entry, that rounding may leave."""

_LEAST_IN_HALF = 2.0**-14
"""The least number of float16 that has all its digits."""


class AtCase(msgspec.Struct, frozen=True, eq=False):
    """The gradients at a case, to which those of its variants are compared."""

    usual: float
    """Their size. Rounding may leave errors of that size in others."""
    exact: Mapping[int, Array | None]
    """The exact ones by the position of the argument; empty if there are none."""
    ones: frozenset[Axis] = frozenset()
    """The axes of extent one."""
    options: Sequence[Any] = ()
    """The values of the arguments that are no tensors."""
    changed: frozenset[int] = frozenset()
    """The positions of the arguments that forward changes in place."""
    shapes: Mapping[int, tuple[int, ...]] = {}
    """The shapes of the tensors, by position."""
    output_shapes: Sequence[tuple[int, ...] | None] = ()
    """The shapes of the outputs."""
    surrogates: frozenset[str] = frozenset()
    """Names of arguments whose gradient is declared to be another than the exact one."""
    is_witness: bool = True
    """Backward has the exact ones; not where forward iterates, and is right by what it reaches."""

    def has_options_of(self, point: Point) -> bool:
        """Return True for a point with the same arguments, but for tensors."""
        return has_options(point, self.options)

    def moves(self, position: int) -> bool:
        """Return True if the exact gradient of an argument is not zero everywhere."""
        gradient = self.exact.get(position)
        return gradient is not None and bool(gradient.any())


def has_options(point: Point, options: Sequence[Any]) -> bool:
    """Return True for a point with these arguments that are no tensors."""
    try:
        return bool(options == [point.values[at] for at in point.plain])
    except Exception:  # A user's object may not be comparable.
        return False


def observe(
    checkable: Checkable, point: Point
) -> tuple[FunctionDifferentiable, StartedCall] | None:
    """One call to forward; None where it refuses the point."""
    try:
        function = function_at(checkable, point)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            started = function.started(function.primals)
    except Exception:  # The user's forward may raise anything.
        return None
    return (function, started) if _is_meaningful(started.seen) else None


def _is_meaningful(seen: Observation) -> bool:
    """Return True if all outputs are finite, and one has a graph."""
    sizes = [
        np.abs(o).max(initial=0.0) for o in seen.outputs if o is not None and is_continuous(o.dtype)
    ]
    return any(seen.output_requires_grad) and all(size < LARGEST for size in sizes)


def _are_alike(
    function: FunctionDifferentiable,
    found: Sequence[Array | None],
    exact: Sequence[Array | None],
    surrogates: Collection[str],
) -> bool:
    triples = zip(function.arguments, found, exact, strict=True)
    return all(_is_like(one, other) or each.name in surrogates for each, one, other in triples)


def gradients_at(
    checkable: Checkable, point: Point, seed: int, surrogates: Collection[str] = ()
) -> AtCase:
    """The gradients at the point of a case: the exact ones, else those of backward.

    Those of `surrogates` are declared to be others.
    """
    observed = observe(checkable, point)
    if observed is None:
        return AtCase(0.0, {})
    function, started = observed
    cotangents = cotangents_of(started.seen, seed)
    exact = recorded_gradients(function, cotangents)
    options = [point.values[at] for at in point.plain]
    shapes = {at: array.shape for at, array in point.arrays()}
    of_outputs = [None if each is None else each.shape for each in started.seen.outputs]
    try:
        found = started.gradients(cotangents)
    except Exception:  # The user's code may raise anything.
        found = None
    if exact is not None:
        return AtCase(
            _size(exact),
            _by_position(function, exact),
            axes_of_one(point),
            options,
            shapes=shapes,
            output_shapes=of_outputs,
            changed=_changed(function, started),
            surrogates=frozenset(surrogates),
            is_witness=found is None or _are_alike(function, found, exact, surrogates),
        )
    return AtCase(
        0.0 if found is None else _size(found),
        {},
        axes_of_one(point),
        shapes=shapes,
        output_shapes=of_outputs,
        changed=_changed(function, started),
    )


def _is_like(found: Array | None, exact: Array | None) -> bool:
    """Return True if a gradient is the exact one, or there are not both."""
    if found is None or exact is None or found.shape != exact.shape:
        return True
    if not exact.any():
        return True  # Of what moves in steps.
    return bool((np.abs(found - exact) <= _LIKE * np.abs(exact).max(initial=0.0)).all())


def axes_of_one(point: Point) -> frozenset[Axis]:
    """The axes of extent one."""
    return frozenset(
        (at, axis)
        for at, array in point.arrays()
        for axis, extent in enumerate(array.shape)
        if extent == 1
    )


def _size(gradients: Sequence[Array | None]) -> float:
    sizes = [float(np.abs(g).max(initial=0.0)) for g in gradients if g is not None and is_finite(g)]
    return max(sizes, default=0.0)


def exact_gradients(checkable: Checkable, point: Point, seed: int) -> dict[int, Array]:
    """The exact gradients at a point, by the position of the argument; empty if there are none."""
    observed = observe(checkable, point)
    if observed is None:
        return {}
    function, started = observed
    return _by_position(function, recorded_gradients(function, cotangents_of(started.seen, seed)))


def changed_arguments(checkable: Checkable, point: Point) -> set[int]:
    """The positions of the arguments that forward changes in place."""
    observed = observe(checkable, point)
    if observed is None:
        return set()
    function, started = observed
    return set(_changed(function, started))


def _changed(function: FunctionDifferentiable, started: StartedCall) -> frozenset[int]:
    changed = started.seen.mutated_arguments
    return frozenset(function.arguments[index].position for index in changed)


def gradients_in_double(checkable: Checkable, point: Point, seed: int) -> dict[int, Array]:
    """Return those of `exact_gradients` that forward has for the same numbers in float64.

    Empty where its outputs are others, as those with random numbers are.
    """
    wide = _widened(point)
    return exact_gradients(checkable, wide, seed) if _agree(checkable, point, wide) else {}


def returned_in_double(checkable: Checkable, point: Point, seed: int) -> dict[int, Array]:
    """Return the gradients of backward for the same numbers in float64; empty as the exact ones."""
    wide = _widened(point)
    return returned_gradients(checkable, wide, seed) if _agree(checkable, point, wide) else {}


def _agree(checkable: Checkable, point: Point, wide: Point) -> bool:
    outputs = _outputs(checkable, point), _outputs(checkable, wide)
    return len(outputs[0]) == len(outputs[1]) and all(map(_is_same_in_digits, *outputs))


def underflows(checkable: Checkable, point: Point) -> bool:
    """Return True if an entry of an output is too small for float16, where its inverse overflows.

    Zero is not: what divides by it needs a guard in any dtype.
    """
    if not any(array.dtype == np.float16 for _, array in point.arrays()):
        return False
    return any(
        output is not None and bool((np.abs(output[output != 0]) < _LEAST_IN_HALF).any())
        for output in _outputs(checkable, _widened(point))
    )


def _widened(point: Point) -> Point:
    """The same numbers in float64."""
    arrays = ((at, array) for at, array in point.arrays() if array.dtype.kind == "f")
    return point.having({at: array.astype(np.float64) for at, array in arrays})


def _outputs(checkable: Checkable, point: Point) -> Sequence[Array | None]:
    """The outputs of forward; none where it refuses the point."""
    run = observe(checkable, point)
    return run[1].seen.outputs if run else []


def _is_same_in_digits(one: Array | None, other: Array | None) -> bool:
    """Return True for two outputs that are the same but for digits."""
    if one is None or other is None:
        return one is other
    size = np.abs(other).max(initial=0.0)
    return one.shape == other.shape and bool((np.abs(one - other) <= _LOST_DIGITS * size).all())


def returned_gradients(checkable: Checkable, point: Point, seed: int) -> dict[int, Array]:
    """The gradients of backward for the same cotangents; empty if forward or backward raises."""
    observed = observe(checkable, point)
    if observed is None:
        return {}
    function, started = observed
    try:
        found = started.gradients(cotangents_of(started.seen, seed))
    except Exception:  # The user's backward may raise anything.
        return {}
    return _by_position(function, found)


def _by_position(
    function: FunctionDifferentiable, gradients: Sequence[Array | None] | None
) -> dict[int, Array]:
    return {
        argument.position: gradient
        for argument, gradient in zip(function.arguments, gradients or (), strict=False)
        if gradient is not None
    }


def shapes_met(checkable: Checkable, point: Point) -> dict[int, tuple[int, ...]]:
    """Return, by position, the shape of what an argument is broadcast to where it is known."""
    try:
        function = function_at(checkable, point)
        shapes = function.met_shapes()
    except Exception:  # The user's forward may raise anything.
        return {}
    positions = [argument.position for argument in function.arguments]
    return {at: shape for at, shape in zip(positions, shapes, strict=True) if shape is not None}


def read_as_symmetric(checkable: Checkable, point: Point, seed: int) -> list[int]:
    """Return the positions of symmetric arguments of which forward reads one triangle."""
    observed = observe(checkable, point)
    if observed is None:
        return []
    function, _ = observed
    at = Derivatives(function, function.primals, seed=seed)
    return [function.arguments[each].position for each in read_by_triangle(at, at.inputs)]


def recorded_gradients(
    function: FunctionDifferentiable, cotangents: Cotangents
) -> Sequence[Array | None] | None:
    """The gradients of the recorded forward; None where they are not known or not finite."""
    try:
        with tracing(None):  # Its forward was called at this point already.
            exact = function.exact_gradients(function.primals, cotangents)
    except Exception:  # A step of forward may have no derivative here.
        return None
    return exact if exact is not None and all(map(is_finite, exact)) else None


def cotangents_of(seen: Observation, seed: int) -> Cotangents:
    """A cotangent of numbers of either sign for each output that has a graph.

    Those of complex outputs have an imaginary part, which shows whether a conjugate is missing.
    """
    return _cotangents(
        seed,
        tuple(
            (output.shape, output.dtype)
            if output is not None and is_continuous(output.dtype) and wanted
            else None
            for output, wanted in zip(seen.outputs, seen.output_requires_grad, strict=True)
        ),
    )


@lru_cache(maxsize=64)
def _cotangents(
    seed: int, outputs: tuple[tuple[tuple[int, ...], np.dtype[Any]] | None, ...]
) -> Cotangents:
    rng = generator(seed, "explored")
    return [each and _cotangent(rng, *each) for each in outputs]


def _cotangent(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    real = signed(rng, shape)
    return (real + 1j * signed(rng, shape) if dtype.kind == "c" else real).astype(dtype)


def is_finite(gradient: Array | None) -> bool:
    """Return True unless a gradient has infinite, enormous or undefined entries."""
    return gradient is None or bool((np.abs(gradient) < LARGEST).all())

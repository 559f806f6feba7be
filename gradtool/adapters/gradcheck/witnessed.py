"""Comparison of backward with the exact derivative of the recorded steps of the function.

A large Jacobian takes thousands of evaluations, whereas random combinations of its rows take a few.
Both sides are exact here, so that any entry that is wrong by more than rounding shows in them. The
exact derivative is believed only where difference quotients agree with it, along a random
direction and at a random entry of each input. Where anything is in doubt, all entries decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gradtool.adapters.gradcheck.derivatives import Derivatives
from gradtool.engine import Tensor
from gradtool.engine.autograd._recording import recording
from gradtool.engine.autograd.gradcheck import GradcheckOptions
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed

LEAST_ENTRIES = 50_000
"""Jacobians with fewer entries are compared entry by entry, which takes as little time."""

_DENSE = 2
"""Cotangents without a zero: two mistakes cancel in one of them, but not in another."""

_ROUNDING = 1e-10
"""Difference allowed between two gradients, next to the largest entry."""

_OF_QUOTIENTS = 1e-6
"""Difference allowed to difference quotients, next to the sum of the sizes of what is added."""


def jitter_if_right(derivatives: Derivatives, options: GradcheckOptions) -> float | None:
    """Return the largest difference between two runs of backward if all gradients are right.

    None if that is not sure: the steps of the function cannot be recorded, a gradient differs from
    the exact one by more than rounding, or a difference quotient does.
    """
    rng = generator(options.seed, "witness")
    cotangents = list(_cotangents(derivatives, rng))
    # What the user's code raises, the comparison of all entries shows.
    try:
        exact = _exact(derivatives, cotangents)
        if exact is None:
            return None
        one, other = _gradients(derivatives, cotangents)
        is_right = all(_agree(*each, options.atol) for each in zip(one, exact, strict=True))
        if is_right and _is_confirmed(derivatives, cotangents, exact, options, rng):
            return max(map(_difference, one, other))
    except Exception:
        return None
    return None


def _cotangents(derivatives: Derivatives, rng: np.random.Generator) -> Iterator[list[FloatArray]]:
    """Dense cotangents for all outputs, then one with a single entry for each output."""
    sizes = [block.stop - block.start for block in derivatives.outputs.blocks]
    for _ in range(_DENSE):
        yield [signed(rng, size) for size in sizes]
    for at, size in enumerate(sizes):
        single = [np.zeros(each) for each in sizes]
        if size:
            single[at][rng.integers(size)] = float(signed(rng, 1)[0])
            yield single


def _exact(
    derivatives: Derivatives, cotangents: Sequence[list[FloatArray]]
) -> list[list[FloatArray]] | None:
    """The gradients of the recorded steps; None if they left the graph or have other results."""
    with recording() as record, derivatives.function.called() as outputs:
        if record.cuts or not derivatives.are_outputs(outputs):
            return None
        return [_flat_gradients(derivatives, outputs, each) for each in cotangents]


def _gradients(
    derivatives: Derivatives, cotangents: Sequence[list[FloatArray]]
) -> list[list[list[FloatArray]]]:
    """The gradients that backward returns for each cotangent, in two runs."""
    with derivatives.function.graphed() as outputs:
        return [
            [_flat_gradients(derivatives, outputs, each) for each in cotangents] for _ in range(2)
        ]


def _flat_gradients(
    derivatives: Derivatives, outputs: Sequence[Tensor], cotangent: list[FloatArray]
) -> list[FloatArray]:
    sent: dict[int, Array | None] = {
        derivatives.positions[at]: derivatives.unflattened(at, vector)
        for at, vector in enumerate(cotangent)
    }
    return derivatives.flat(derivatives.vjp(outputs, sent))


def _agree(returned: list[FloatArray], exact: list[FloatArray], atol: float) -> bool:
    for one, other in zip(returned, exact, strict=True):
        allowed = min(_ROUNDING * np.abs(other).max(initial=0.0), atol)
        if not (np.abs(one - other) <= allowed).all():
            return False
    return True


def _difference(one: list[FloatArray], other: list[FloatArray]) -> float:
    return max(float(np.abs(a - b).max(initial=0.0)) for a, b in zip(one, other, strict=True))


def _is_confirmed(
    derivatives: Derivatives,
    cotangents: Sequence[list[FloatArray]],
    exact: Sequence[list[FloatArray]],
    options: GradcheckOptions,
    rng: np.random.Generator,
) -> bool:
    """Return True if difference quotients agree, in a random direction and at an entry."""
    weights = np.stack([np.concatenate(each) for each in cotangents])
    for target, layout in enumerate(derivatives.layouts):
        if not layout.size:
            continue
        single = np.zeros(layout.size)
        single[rng.integers(layout.size)] = 1.0
        for direction in (signed(rng, layout.size), single):
            column = derivatives.numeric_along({target: direction})
            expected = np.stack([each[target] for each in exact]) @ direction
            allowed = options.atol + _OF_QUOTIENTS * (np.abs(weights) @ np.abs(column))
            if not (np.abs(weights @ column - expected) <= allowed).all():
                return False
    return True

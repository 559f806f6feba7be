"""Whether several cotangents, or tangents, at once lead to what each alone leads to.

The user's methods run on batched tensors: what they do must not depend on there being one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradtool.adapters.bundled.graphed_levels import GraphedBatch
from gradtool.adapters.gradcheck.examined import Examined, copied
from gradtool.adapters.gradcheck.forward import pushed
from gradtool.adapters.gradcheck.settings import Settings
from gradtool.adapters.gradcheck.sides import Sides
from gradtool.engine import Tensor
from gradtool.engine._tensor import wrap
from gradtool.engine.autograd import grad
from gradtool.engine.autograd.gradcheck import GradcheckError
from gradtool.verify.protocol.differentiable import Array
from gradtool.verify.randomness import generator

_COUNT = 2
"""Of cotangents or tangents in a batch."""
_RTOL, _ATOL = 1e-5, 1e-8

Arrays = Sequence[Array | None]
Found = Sequence[Tensor | None]


def expect_batched_backward(sides: Sides, settings: Settings) -> None:
    """Backward must treat a batch of cotangents as it treats each.

    Raises:
        GradcheckError: It does not.
    """
    rng = generator(settings.seed, "batched cotangents")
    inputs = [sides.input(target) for target in range(len(sides.layouts))]
    with sides.examined.called() as outputs:
        for at in sides.graphed:
            cotangents = _drawn(rng, copied(outputs[at]))
            alone = [_arrays(sides.pull_back(outputs, {at: each})) for each in cotangents]
            at_once = _run(lambda level: _pulled(sides, outputs[at], cotangents, level))  # noqa: B023 - it runs here
            _compare(at_once, alone, [f"output {at} and {name}" for name in inputs], "backward")


def _pulled(sides: Sides, output: Tensor, cotangents: Array, level: GraphedBatch) -> Found:
    sent = level.wrap(wrap(cotangents).to(output.device))
    return grad(output, sides.examined.targets, sent, retain_graph=True, allow_unused=True)


def expect_batched_forward(sides: Sides, settings: Settings) -> None:
    """Forward mode must treat a batch of tangents as it treats each.

    Raises:
        GradcheckError: It does not.
    """
    rng = generator(settings.seed, "batched tangents")
    for target, primal in enumerate(sides.examined.primals):
        drawn = _drawn(rng, primal)
        alone = [_arrays(_pushed(sides.examined, target, wrap(each.copy()))) for each in drawn]
        at_once = _run(lambda level: _pushed(sides.examined, target, level.wrap(wrap(drawn))))  # noqa: B023 - it runs here
        pairs = [f"output {at} and {sides.input(target)}" for at in range(len(at_once))]
        _compare(at_once, alone, pairs, "forward mode")


def _pushed(examined: Examined, target: int, tangent: Tensor) -> Found:
    """The tangents of all outputs as one target moves; those of the others are undefined."""
    given: list[Tensor | None] = [None] * len(examined.targets)
    given[target] = tangent.to(examined.targets[target].device)
    return pushed(examined, given)


def _drawn(rng: np.random.Generator, like: Array) -> Array:
    drawn = rng.standard_normal((_COUNT, *like.shape))
    if like.dtype.kind == "c":
        drawn = drawn + 1j * rng.standard_normal((_COUNT, *like.shape))
    return np.asarray(drawn, dtype=like.dtype)


def _arrays(found: Found) -> Arrays:
    return [None if each is None else copied(each) for each in found]


def _run(at_once: Callable[[GraphedBatch], Found]) -> Arrays:
    try:
        with GraphedBatch(_COUNT) as level:
            return level.arrays(at_once(level))
    except Exception as error:  # each alone went well before
        raise GradcheckError(f"While computing batched gradients, got: {error}") from error


def _compare(batched: Arrays, alone: Sequence[Arrays], pairs: Sequence[str], what: str) -> None:
    """Compare pair by pair of an output and an input; None counts as zero."""
    for number, together in enumerate(batched):
        for example in range(_COUNT):
            one = _or_zero(alone[example][number])
            other = _or_zero(None if together is None else together[example])
            if not np.allclose(other, one, rtol=_RTOL, atol=_ATOL):
                raise GradcheckError(
                    f"For {pairs[number]}: gradcheck or gradgradcheck failed while testing "
                    f"batched gradient computation: {what} of a batch differs from that of "
                    f"each by {np.abs(other - one).max():.3g}"
                )


def _or_zero(array: Array | None) -> Array:
    return np.zeros(()) if array is None else array

"""Checks that a batch of cotangents, or of tangents, gives what each one gives alone.

The user's methods run on batched tensors, and must not depend on there being one example.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradtool.adapters.bundled.graphed_levels import GraphedBatch
from gradtool.adapters.gradcheck.checked_function import CheckedFunction, copied
from gradtool.adapters.gradcheck.derivatives import Derivatives
from gradtool.adapters.gradcheck.forward_mode import jvp
from gradtool.engine import Tensor
from gradtool.engine._tensor import wrap
from gradtool.engine.autograd import grad
from gradtool.engine.autograd.gradcheck import GradcheckError, GradcheckOptions
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator

_COUNT = 2
"""Cotangents or tangents in a batch."""
_RTOL, _ATOL = 1e-5, 1e-8

Arrays = Sequence[Array | None]
Found = Sequence[Tensor | None]


def expect_batched_backward(derivatives: Derivatives, options: GradcheckOptions) -> None:
    """Require backward to treat a batch of cotangents as it treats each one.

    Raises:
        GradcheckError: It does not.
    """
    rng = generator(options.seed, "batched cotangents")
    inputs = [derivatives.input(target) for target in range(len(derivatives.layouts))]
    with derivatives.function.graphed() as outputs:
        for at in derivatives.graphed:
            cotangents = _drawn(rng, copied(outputs[at]))
            alone = [_arrays(derivatives.vjp(outputs, {at: each})) for each in cotangents]
            batched = _run(lambda level: _batched_vjp(derivatives, outputs[at], cotangents, level))  # noqa: B023 - it runs here
            _compare(batched, alone, [f"output {at} and {name}" for name in inputs], "backward")


def _batched_vjp(
    derivatives: Derivatives, output: Tensor, cotangents: Array, level: GraphedBatch
) -> Found:
    sent = level.wrap(wrap(cotangents).to(output.device))
    return grad(output, derivatives.function.targets, sent, retain_graph=True, allow_unused=True)


def expect_batched_forward(derivatives: Derivatives, options: GradcheckOptions) -> None:
    """Require forward mode to treat a batch of tangents as it treats each one.

    Raises:
        GradcheckError: It does not.
    """
    rng = generator(options.seed, "batched tangents")
    for target, primal in enumerate(derivatives.function.primals):
        drawn = _drawn(rng, primal)
        alone = [_arrays(_jvp(derivatives.function, target, wrap(each.copy()))) for each in drawn]
        batched = _run(lambda level: _jvp(derivatives.function, target, level.wrap(wrap(drawn))))  # noqa: B023 - it runs here
        pairs = [f"output {at} and {derivatives.input(target)}" for at in range(len(batched))]
        _compare(batched, alone, pairs, "forward mode")


def _jvp(function: CheckedFunction, target: int, tangent: Tensor) -> Found:
    """Return the tangents of all outputs; the other targets' tangents are undefined."""
    given: list[Tensor | None] = [None] * len(function.targets)
    given[target] = tangent.to(function.targets[target].device)
    return jvp(function, given)


def _drawn(rng: np.random.Generator, like: Array) -> Array:
    drawn = rng.standard_normal((_COUNT, *like.shape))
    if like.dtype.kind == "c":
        drawn = drawn + 1j * rng.standard_normal((_COUNT, *like.shape))
    return np.asarray(drawn, dtype=like.dtype)


def _arrays(found: Found) -> Arrays:
    return [None if each is None else copied(each) for each in found]


def _run(batched: Callable[[GraphedBatch], Found]) -> Arrays:
    try:
        with GraphedBatch(_COUNT) as level:
            level.by_func = False  # as `autograd.grad` in batches, not as `func.vmap`
            return level.arrays(batched(level))
    except Exception as error:  # each one alone has succeeded
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
                    f"batched gradient computation: {what} for a batch differs from {what} for "
                    f"each example alone by {np.abs(other - one).max():.3g}"
                )


def _or_zero(array: Array | None) -> Array:
    return np.zeros(()) if array is None else array

"""What a Function's jvp says, beside what its derivative is.

Random tangents are pushed forward: of all inputs at once, then of each alone, since a caller may
have a tangent for one only. The product of the numeric Jacobian with the same tangent is what
should come out, and the product of the analytic one is what backward, whose transpose the jvp
is, would have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradtool.verify.comparison.analytic import width
from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.comparison.judgement import Judgement
from gradtool.verify.oracle.layout import Layout
from gradtool.verify.protocol.coordinates import FloatArray
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.effort import JVP_TANGENTS


@dataclass(frozen=True)
class Push:
    """One tangent pushed forward. All vectors have the rows of the layout.

    `allowed` is how far `pushed` may be from `numeric`; `size` is the sum of the terms' sizes.
    `alone` is the argument that alone had a tangent; None where all had.
    """

    pushed: FloatArray
    numeric: FloatArray
    analytic: FloatArray
    allowed: FloatArray
    size: FloatArray
    alone: int | None


class JvpError(Exception):
    """The user's jvp raised, or returned what is no tangent of the outputs; it says which."""

    def __init__(self, told: str, alone: int | None) -> None:
        super().__init__(told)
        self.alone = alone


def pushes(function: Examinable, judgements: list[Judgement], seed: int) -> list[Push]:
    """A few tangents pushed through the Function's jvp.

    Raises:
        JvpError: the user's jvp failed, for the tangents that it names.
    """
    at = judgements[0].at
    comparisons = [each for judgement in judgements for each in judgement.comparisons]
    return [
        _push(
            at.layout,
            [each for each in comparisons if each.argument in weights],
            weights,
            _rows(at.layout, _pushed(function, at, weights, alone)),
            alone,
        )
        for weights, alone in _chosen(at.layout, [each.argument for each in comparisons], seed)
    ]


def _chosen(
    layout: Layout, arguments: list[int], seed: int
) -> Iterator[tuple[dict[int, FloatArray], int | None]]:
    """Weights of the columns of each argument with a tangent, and which has one alone."""
    rng = generator(seed, "tangents")
    for _ in range(JVP_TANGENTS):
        yield {each: signed(rng, width(layout, each)) for each in arguments}, None
    if len(arguments) > 1:
        for each in arguments:
            yield {each: signed(rng, width(layout, each))}, each


def _pushed(
    function: Examinable, at: Derivatives, weights: dict[int, FloatArray], alone: int | None
) -> tuple[Array | None, ...]:
    try:
        (outputs,) = function.jvps(at.primals, [_tangents(at, weights)])
    except Exception as error:  # What the user's jvp may raise has no bounds.
        raise JvpError(f"jvp raised {type(error).__name__}: {error}", alone) from error
    for number, (output, block) in enumerate(zip(outputs, at.layout.outputs.blocks, strict=True)):
        if output is not None and output.dtype.kind == "c" and not block.is_complex:
            told = f"jvp returns a complex tangent for output {number}, which is {block.dtype}"
            raise JvpError(told, alone)
    return outputs


def _tangents(at: Derivatives, weights: dict[int, FloatArray]) -> list[Array | None]:
    """The weights of each argument's columns as a tangent of the argument."""
    tangents: list[Array | None] = [None] * len(at.primals)
    for argument, weight in weights.items():
        directions = at.layout.directions[argument]
        vector = weight if directions is None else directions.combined(weight)
        (tangents[argument],) = at.layout.inputs[argument].unflatten(vector)
    return tangents


def _rows(layout: Layout, outputs: tuple[Array | None, ...]) -> FloatArray:
    """The outputs' tangents in the layout's rows; an absent one is zero."""
    filled = [
        np.zeros(block.shape, block.dtype) if output is None else output
        for output, block in zip(outputs, layout.outputs.blocks, strict=True)
    ]
    vector = layout.outputs.flatten(filled)
    return vector if layout.functionals is None else layout.functionals.of(vector)


def _push(
    layout: Layout,
    comparisons: list[Comparison],
    weights: dict[int, FloatArray],
    pushed: FloatArray,
    alone: int | None,
) -> Push:
    numeric, analytic, allowed, size = (np.zeros(layout.rows) for _ in range(4))
    for each in comparisons:
        weight = weights[each.argument]
        known = np.where(np.isfinite(each.numeric.value), each.numeric.value, each.analytic)
        numeric += known @ weight
        analytic += each.analytic @ weight
        allowed += np.nan_to_num(each.allowed, nan=np.inf, posinf=np.inf) @ np.abs(weight)
        size += np.abs(each.analytic) @ np.abs(weight)
    return Push(pushed, numeric, analytic, allowed, size, alone)

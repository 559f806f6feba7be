"""A Function's jvp compared with its derivative, along random tangents.

Tangents are pushed forward for all inputs at once, then for each alone, since a caller may have a
tangent for one only. The numeric Jacobian times the same tangent is the reference; the analytic one
times it is the value to which backward, the transpose of jvp, commits itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from gradtool.verify.comparison.analytic import width
from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.comparison.judgement import Judgement
from gradtool.verify.oracle.layout import Layout
from gradtool.verify.protocol.coordinates import BoolArray, FloatArray
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, signed
from gradtool.verify.thresholds.effort import JVP_TANGENTS
from gradtool.verify.thresholds.noise import IRREGULAR_FACTOR


class JvpComparison(msgspec.Struct, frozen=True):
    """The jvp of one tangent, and its references. All vectors have the rows of the layout.

    `allowed` is the tolerance between `jvp` and `numeric`; `size` is the sum of the terms' sizes.
    `only_argument` is the one argument that had a tangent; None where all had.
    """

    jvp: FloatArray
    numeric: FloatArray
    analytic: FloatArray
    allowed: FloatArray
    size: FloatArray
    only_argument: int | None

    @property
    def off(self) -> BoolArray:
        """Flags of the rows in which `jvp` is not the numeric derivative."""
        return np.asarray(~(np.abs(self.jvp - self.numeric) <= self.allowed))


class JvpError(Exception):
    """The user's jvp raised, or did not return tangents of the outputs.

    It `is_gap` if what it raised is only that the engine lacks a name.
    """

    def __init__(self, message: str, only_argument: int | None, *, is_gap: bool = False) -> None:
        super().__init__(message)
        self.only_argument = only_argument
        self.is_gap = is_gap


def compare_jvps(
    function: Examinable, judgements: list[Judgement], seed: int
) -> list[JvpComparison]:
    """Compare the Function's jvp of a few tangents with its derivative.

    Raises:
        JvpError: The user's jvp failed, with a tangent for `only_argument`.
    """
    at = judgements[0].at
    comparisons = [each for judgement in judgements for each in judgement.comparisons]
    return [
        _compared(
            at.layout,
            [each for each in comparisons if each.argument in weights],
            weights,
            rows(at.layout, _jvp(function, at, weights, only_argument)),
            only_argument,
        )
        for weights, only_argument in _chosen(at, [each.argument for each in comparisons], seed)
    ]


def _chosen(
    at: Derivatives, arguments: list[int], seed: int
) -> Iterator[tuple[dict[int, FloatArray], int | None]]:
    """Yield the column weights of each argument with a tangent, and the only one that has it."""
    rng = generator(seed, "tangents")
    for _ in range(JVP_TANGENTS):
        yield {each: tangent_weights(at, each, rng) for each in arguments}, None
    if len(arguments) > 1:
        for each in arguments:
            yield {each: tangent_weights(at, each, rng)}, each


def tangent_weights(at: Derivatives, argument: int, rng: np.random.Generator) -> FloatArray:
    """Weights of an argument's columns, with all digits of its dtype: a jvp may lose some."""
    weights = signed(rng, width(at.layout, argument)) * IRREGULAR_FACTOR
    return weights.astype(at.primals[argument].real.dtype).astype(np.float64)


def _jvp(
    function: Examinable, at: Derivatives, weights: dict[int, FloatArray], only_argument: int | None
) -> tuple[Array | None, ...]:
    try:
        (outputs,) = function.jvps(at.primals, [tangents(at, weights)])
    except Exception as error:  # What the user's jvp may raise has no bounds.
        message = f"jvp raised {type(error).__name__}: {error}"
        is_gap = getattr(error, "is_gap", False)
        raise JvpError(message, only_argument, is_gap=is_gap) from error
    for number, (output, block) in enumerate(zip(outputs, at.layout.outputs.blocks, strict=True)):
        # Flattening would raise a ValueError without the output's number.
        if output is not None and output.dtype.kind == "c" and not block.is_complex:
            message = f"jvp returns a complex tangent for output {number}, which is {block.dtype}"
            raise JvpError(message, only_argument)
    return outputs


def tangents(at: Derivatives, weights: dict[int, FloatArray]) -> list[Array | None]:
    """The weights of each argument's columns as a tangent of the argument."""
    found: list[Array | None] = [None] * len(at.primals)
    for argument, weight in weights.items():
        directions = at.layout.directions[argument]
        vector = weight if directions is None else directions.combined(weight)
        (found[argument],) = at.layout.inputs[argument].unflatten(vector)
    return found


def rows(layout: Layout, outputs: tuple[Array | None, ...]) -> FloatArray:
    """The outputs' tangents in the layout's rows; an absent one is zero."""
    filled = [
        np.zeros(block.shape, block.dtype) if output is None else output
        for output, block in zip(outputs, layout.outputs.blocks, strict=True)
    ]
    vector = layout.outputs.flatten(filled)
    return vector if layout.functionals is None else layout.functionals.of(vector)


def _compared(
    layout: Layout,
    comparisons: list[Comparison],
    weights: dict[int, FloatArray],
    jvp: FloatArray,
    only_argument: int | None,
) -> JvpComparison:
    numeric, analytic, allowed, size = (np.zeros(layout.rows) for _ in range(4))
    for each in comparisons:
        weight = weights[each.argument]
        # One unknown entry would make the product unknown; its `allowed` is infinite anyway.
        known = np.where(np.isfinite(each.numeric.value), each.numeric.value, each.analytic)
        numeric += known @ weight
        analytic += each.analytic @ weight
        allowed += np.nan_to_num(each.allowed, nan=np.inf, posinf=np.inf) @ np.abs(weight)
        size += np.abs(each.analytic) @ np.abs(weight)
    return JvpComparison(jvp, numeric, analytic, allowed, size, only_argument)

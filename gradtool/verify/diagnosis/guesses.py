"""The whole Jacobian as common mistakes would have made it.

Each guess yields a text and the Jacobian that the mistake leads to. NaN stands where the guess does
not say; None for a Jacobian of which nothing is claimed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.oracle.fixed_step import numeric_jacobian
from gradtool.verify.protocol.coordinates import Block, BoolArray, FloatArray
from gradtool.verify.thresholds.diagnosis import (
    AT_OUTPUT_MOST_COLUMNS,
    AT_OUTPUT_STEP,
    FACTOR_EXACT,
    FACTOR_MOST_DENOMINATOR,
    FACTOR_MOST_PLAIN_DENOMINATOR,
    FACTOR_NEAR_ONE,
    PERMUTED_MOST_AXES,
    REARRANGED_NORM_DIFFERENCE,
    ROLLED_MOST_SHIFTS,
    SAME_FOR_ANY_COTANGENT,
)

Guesses = Iterator[tuple[str, FloatArray | None]]
Guess = Callable[[Derivatives, Comparison], Guesses]


def agrees(comparison: Comparison, expected: FloatArray) -> bool:
    """Return True if the analytic Jacobian is `expected`, wherever that is known.

    Not if it is unknown for all that is wrong: that explains nothing.
    """
    known = np.isfinite(comparison.numeric.value) & np.isfinite(expected)
    wrong = known & (comparison.decision == Decision.FAIL)
    if not wrong.any():
        return False
    errors = comparison.numeric.error[np.isfinite(comparison.numeric.error)]
    found = np.abs(comparison.analytic - comparison.numeric.value)[wrong]
    # A large error of one entry must not hide what is wrong with another.
    error = min(errors.max(initial=0.0), found.min(initial=np.inf) / 2)
    difference = np.abs(comparison.analytic - expected)
    allowed = comparison.tolerance.allowed(comparison.analytic, expected)
    return bool((difference <= allowed + error)[known].all())


def input_block(comparison: Comparison) -> Block:
    """The argument's array."""
    return comparison.layout.inputs[comparison.argument].blocks[0]


def has_entries(comparison: Comparison) -> bool:
    """Return True if rows and columns are entries, and not random products of them."""
    layout = comparison.layout
    return layout.functionals is None and layout.directions[comparison.argument] is None


def _is_not_finite(_: Derivatives, comparison: Comparison) -> Guesses:
    if not np.isfinite(comparison.analytic).all():
        yield "is not finite: a square, exponential or quotient in backward leaves its range", None


def _is_zero(_: Derivatives, comparison: Comparison) -> Guesses:
    yield "is zero everywhere", np.zeros_like(comparison.analytic)


def _ignores_cotangent(derivatives: Derivatives, comparison: Comparison) -> Guesses:
    """Backward returns the same for every cotangent."""
    returned = comparison.analytic * derivatives.analytic.scaling[:, None]
    together = derivatives.gradient_at_cotangents(comparison.argument)
    # Rows are divided by their scaling, so a backward that ignores its cotangent shows once it is
    # undone.
    if np.allclose(returned, together, rtol=SAME_FOR_ANY_COTANGENT, atol=0.0):
        text = "does not depend on grad_output: backward must multiply by it"
        yield text, together / derivatives.analytic.scaling[:, None]


def _has_wrong_sign(_: Derivatives, comparison: Comparison) -> Guesses:
    yield "has the wrong sign", -comparison.numeric.value


def _is_not_conjugated(_: Derivatives, comparison: Comparison) -> Guesses:
    """Complex gradients take the conjugate of the derivative of a holomorphic function."""
    if not (input_block(comparison).is_complex and has_entries(comparison)):
        return
    numeric = comparison.numeric.value
    columns = np.arange(numeric.shape[1]) % 2
    rows = np.zeros(len(numeric))
    for block in comparison.layout.outputs.blocks:
        if block.is_complex:
            rows[block.span] = np.arange(block.stop - block.start) % 2
    crossing = rows[:, None] != columns
    text = "uses the derivative instead of its conjugate: use .conj()"
    yield text, np.where(crossing, -numeric, numeric)
    yield "is the conjugate of the right gradient", np.where(columns, -numeric, numeric)
    yield "uses the conjugate of grad_output", np.where(rows[:, None], -numeric, numeric)


def _is_holomorphic(_: Derivatives, comparison: Comparison) -> Guesses:
    """The part of the derivative that a holomorphic function has, of one that is none."""
    blocks = comparison.layout.outputs.blocks
    is_complex = input_block(comparison).is_complex and all(each.is_complex for each in blocks)
    if not (is_complex and has_entries(comparison)):
        return
    numeric = comparison.numeric.value
    pairs = numeric.reshape(len(numeric) // 2, 2, -1, 2)
    like = (pairs[:, 0, :, 0] + pairs[:, 1, :, 1]) / 2
    unlike = (pairs[:, 0, :, 1] - pairs[:, 1, :, 0]) / 2
    part = np.empty_like(pairs)
    part[:, 0, :, 0] = part[:, 1, :, 1] = like
    part[:, 0, :, 1], part[:, 1, :, 0] = unlike, -unlike
    text = "lacks the part that goes with grad_output.conj(): forward is not holomorphic"
    yield text, part.reshape(numeric.shape)


def _is_transposed(_: Derivatives, comparison: Comparison) -> Guesses:
    """The array of the gradient is transposed, or the Jacobian is where its transpose belongs."""
    if not has_entries(comparison):
        return
    block = input_block(comparison)
    cube = _cube(comparison)
    last = len(block.shape)
    if last > 1 and block.shape[-1] == block.shape[-2]:
        flipped = np.swapaxes(cube, last, last - 1).reshape(comparison.analytic.shape)
        yield "is the transpose of the derivative", flipped
    numeric = comparison.numeric.value
    if numeric.shape[0] == numeric.shape[1]:
        text = "uses the derivative where its transpose is needed"
        yield text, np.asarray(numeric.T)


def _has_rearranged_cotangent(_: Derivatives, comparison: Comparison) -> Guesses:
    """The right numbers for the wrong entries of the cotangent."""
    blocks = comparison.layout.outputs.blocks
    if not has_entries(comparison) or len(blocks) != 1 or blocks[0].is_complex:
        return
    shape, numeric = blocks[0].shape, comparison.numeric.value
    cube = numeric.reshape(*shape, -1)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        flipped = np.swapaxes(cube, len(shape) - 1, len(shape) - 2).reshape(numeric.shape)
        yield "uses grad_output transposed: sum or multiply along its other dim", flipped
    for dim, length in enumerate(shape):
        if length > 1:
            yield (
                f"uses grad_output flipped along dim {dim}",
                np.flip(cube, dim).reshape(numeric.shape),
            )


def _is_for_an_averaged_cotangent(_: Derivatives, comparison: Comparison) -> Guesses:
    """One number of the cotangent for all entries, as the gradient of a loss of one number has."""
    blocks = comparison.layout.outputs.blocks
    if not has_entries(comparison) or len(blocks) != 1 or blocks[0].is_complex:
        return
    shape, numeric = blocks[0].shape, comparison.numeric.value
    cube = numeric.reshape(*shape, -1)
    dims = [(dim,) for dim in range(len(shape))] if len(shape) > 1 else []
    for axes in (tuple(range(len(shape))), *dims):
        over = f"over dim {axes[0]}" if dims and len(axes) == 1 else "over all its entries"
        for word, found in (
            ("mean", cube.mean(axis=axes, keepdims=True)),
            ("sum", cube.sum(axis=axes, keepdims=True)),
        ):
            if found.shape != cube.shape:
                expected = np.broadcast_to(found, cube.shape).reshape(numeric.shape)
                yield f"uses the {word} of grad_output {over} instead of grad_output", expected


def _is_rearranged(_: Derivatives, comparison: Comparison) -> Guesses:
    """The right numbers in the wrong places."""
    if not has_entries(comparison) or not _may_be_rearranged(comparison):
        return
    cube, shape = _cube(comparison), comparison.analytic.shape
    lengths = input_block(comparison).shape
    for dim, length in enumerate(lengths):
        if length > 1:
            text = f"is the derivative with its entries flipped along dim {dim}"
            yield text, np.flip(cube, dim + 1).reshape(shape)
        for shift in range(1, min(length, ROLLED_MOST_SHIFTS)):
            text = f"is the derivative with its entries rolled by {shift} along dim {dim}"
            yield text, np.roll(cube, shift, dim + 1).reshape(shape)
    if 1 < len(lengths) <= PERMUTED_MOST_AXES:
        for order in itertools.permutations(range(len(lengths))):
            axes = (0, *(dim + 1 for dim in order), len(lengths) + 1)
            text = f"is the derivative, reshaped instead of permuted as {order}"
            yield text, np.transpose(cube, axes).reshape(shape)


def _may_be_rearranged(comparison: Comparison) -> bool:
    """Return True if the norms of the rows are right, as they are in any order of the entries."""
    claimed = np.linalg.norm(comparison.analytic, axis=1)
    measured = np.linalg.norm(comparison.numeric.value, axis=1)
    return bool(
        np.allclose(claimed, measured, rtol=REARRANGED_NORM_DIFFERENCE, atol=0.0, equal_nan=True)
    )


def _is_of_another_argument(derivatives: Derivatives, comparison: Comparison) -> Guesses:
    """Gradients returned in the wrong order."""
    arguments = derivatives.function.arguments
    if not has_entries(comparison):
        return
    for other in derivatives.inputs:
        if other == comparison.argument or derivatives.layout.directions[other] is not None:
            continue
        value = _in_place_of(comparison, derivatives.comparison(other).numeric.value)
        if value is not None:
            name = arguments[other].name
            order = "check the order of the values that backward returns"
            yield f"is that of `{name}`: {order}", value


def is_minus_that_of_another_argument(derivatives: Derivatives, comparison: Comparison) -> Guesses:
    """Gradients returned in the wrong order; or one step that only one of them goes through."""
    for text, value in _is_of_another_argument(derivatives, comparison):
        assert value is not None
        yield text.replace("is that of", "is minus that of"), -value


def _in_place_of(comparison: Comparison, other: FloatArray) -> FloatArray | None:
    """The Jacobian of another argument in the columns of this one.

    Where the two are broadcast to the output, each output depends on one entry of both.
    """
    own = comparison.numeric.value
    if own.shape == other.shape:
        return other
    if (np.count_nonzero(own, axis=1) > 1).any() or (np.count_nonzero(other, axis=1) > 1).any():
        return None
    return np.where(own != 0, other.sum(axis=1, keepdims=True), 0.0)


def _swaps_outputs(_: Derivatives, comparison: Comparison) -> Guesses:
    """The cotangents of two outputs taken for each other."""
    blocks = comparison.layout.outputs.blocks
    if comparison.layout.functionals is not None:
        return
    for (i, first), (j, second) in itertools.combinations(enumerate(blocks), 2):
        if first.shape == second.shape and first.dtype == second.dtype:
            # The Jacobian belongs to the comparison; the second assignment also needs what the
            # first overwrites.
            swapped = comparison.numeric.value.copy()
            swapped[first.span] = comparison.numeric.value[second.span]
            swapped[second.span] = comparison.numeric.value[first.span]
            yield f"swaps the cotangents of outputs {i} and {j}", swapped


def _is_only_diagonal(_: Derivatives, comparison: Comparison) -> Guesses:
    numeric = comparison.numeric.value
    if has_entries(comparison) and numeric.shape[0] == numeric.shape[1] > 1:
        text = "has only the diagonal of the derivative: each output depends on other entries too"
        yield text, np.diag(np.diag(numeric))


def has_wrong_factor(derivatives: Derivatives, comparison: Comparison) -> Guesses:
    """All of the gradient is a multiple of the derivative."""
    everywhere = np.ones(comparison.analytic.shape, dtype=bool)
    factor = common_factor(comparison, everywhere)
    if factor:
        text = f"is the derivative times {factor_words(factor, _counts(comparison))}"
        yield f"{text}{_of_a_number(derivatives, factor)}", factor * comparison.numeric.value


def _of_a_number(derivatives: Derivatives, factor: float) -> str:
    """Words for a factor that is made of one number among the arguments; empty if none is."""
    if any(abs(each) == int(abs(each)) for each in (factor, 1 / factor)):
        return ""  # As any number may be by chance.
    for argument, primal in zip(derivatives.function.arguments, derivatives.primals, strict=True):
        if primal.size == 1 and primal.dtype.kind == "f":
            for words, value in _forms(f"`{argument.name}`", float(primal.reshape(()))):
                if abs(factor - value) <= FACTOR_EXACT * abs(factor):
                    return f", that is, {words}"
    return ""


def _forms(name: str, number: float) -> Iterator[tuple[str, float]]:
    """Yield what a factor may be that is made of a number, in words and its value."""
    for words, value in (
        (name, number),
        (f"(1 - {name})", 1 - number),
        (f"(1 + {name})", 1 + number),
    ):
        yield words.strip("()"), value
        if value:
            yield f"1 / {words}", 1 / value


def has_simple_factor(comparison: Comparison) -> bool:
    """Return True if that multiple is a whole number or a fraction."""
    factor = common_factor(comparison, np.ones(comparison.analytic.shape, dtype=bool)) or 0.0
    multiples = [factor * each for each in range(1, FACTOR_MOST_DENOMINATOR + 1)]
    return any(abs(each - round(each)) <= FACTOR_EXACT * abs(each) for each in multiples)


def _counts(comparison: Comparison) -> set[int]:
    """Return the numbers of entries that a sum or mean may run over."""
    sizes: set[int] = set()
    own = input_block(comparison)
    for block in comparison.layout.outputs.blocks:
        if block.shape != own.shape:
            for shape in (own.shape, block.shape):
                # Only where shapes differ can there have been a sum or a mean.
                sizes |= {*shape, int(np.prod(shape))}
    return sizes


def is_taken_at_output(derivatives: Derivatives, comparison: Comparison) -> Guesses:
    """The formula is right for the input, and the output was saved."""
    own, outputs = input_block(comparison), derivatives.forward.outputs
    if not has_entries(comparison) or own.stop > AT_OUTPUT_MOST_COLUMNS or len(outputs) != 1:
        return
    (output,) = outputs
    if output is None or output.shape != own.shape or output.dtype != own.dtype:
        return
    # In double precision, whatever the case's: the step suits no other.
    wide = output.astype(np.result_type(output.dtype, np.float64))
    there = [*derivatives.primals]
    there[comparison.argument] = wide
    evaluate = derivatives.function.evaluate
    with np.errstate(all="ignore"):
        try:
            value = numeric_jacobian(evaluate, there, comparison.argument, AT_OUTPUT_STEP)
        except Exception:  # The user's forward may refuse its own output in any way.
            return
    yield "is the derivative at the output: save the input for backward, not the output", value


GUESSES: Sequence[Guess] = (
    _is_not_finite,
    _is_zero,
    _ignores_cotangent,
    _has_wrong_sign,
    _is_not_conjugated,
    _is_holomorphic,
    _is_transposed,
    _is_of_another_argument,
    is_minus_that_of_another_argument,
    _swaps_outputs,
    _is_only_diagonal,
    _is_rearranged,
    _has_rearranged_cotangent,
    _is_for_an_averaged_cotangent,
    has_wrong_factor,
)

DESCRIPTIONS: Sequence[Guess] = (
    _is_zero,
    _is_transposed,
    _is_rearranged,
    _has_rearranged_cotangent,
)
"""Guesses that an edit of backward explains better, if one makes it right."""


def _cube(comparison: Comparison) -> FloatArray:
    """The numeric Jacobian with its columns in the shape of the argument."""
    block = input_block(comparison)
    return comparison.numeric.value.reshape(-1, *block.shape, 2 if block.is_complex else 1)


def common_factor(comparison: Comparison, where: BoolArray) -> float | None:
    """The factor that brings the numeric Jacobian closest to the analytic one in some entries."""
    analytic, numeric = comparison.analytic[where], comparison.numeric.value[where]
    known = np.isfinite(numeric) & np.isfinite(analytic)
    with np.errstate(all="ignore"):
        square = float(np.sum(numeric[known] ** 2))
        product = float(np.sum(analytic[known] * numeric[known]))
    return product / square if square else None


def factor_words(factor: float, counts: Collection[int] = ()) -> str:
    """The factor as a whole number or a fraction, if it is one.

    `counts` are numbers of entries that a sum or a mean may run over. A half is left of a
    square without its 2 more often than of a sum.
    """
    if FACTOR_EXACT < abs(factor - 1) < FACTOR_NEAR_ONE:
        return f"1 {'-' if factor < 1 else '+'} {abs(factor - 1):.2g}"
    for denominator in range(1, FACTOR_MOST_DENOMINATOR + 1):
        whole = round(factor * denominator)
        if whole and abs(factor * denominator - whole) <= FACTOR_EXACT * abs(whole):
            if denominator == 1:
                is_sum = whole > 1 and whole in counts
                return f"{whole}{': a sum instead of a mean?' if is_sum else ''}"
            if abs(whole) == 1:
                mean = whole == 1 and 2 < denominator in counts
                return f"{whole}/{denominator}{': a mean instead of a sum?' if mean else ''}"
            if denominator <= FACTOR_MOST_PLAIN_DENOMINATOR and abs(whole) <= 2 * denominator:
                return f"{whole}/{denominator}"
    return f"{factor:.6g}"

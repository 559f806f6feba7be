"""Gradients that are off by a product of quantities at hand: inputs and outputs.

A forgotten inner derivative, an exponent that was kept, a division left out: the gradient is the
derivative times some product of powers of what backward has. In logarithms that is a linear
equation in the exponents, which few entries settle.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.diagnosis.guesses import Guesses, factor_words, has_entries, input_block
from gradtool.verify.protocol.coordinates import Block, BoolArray, FloatArray
from gradtool.verify.protocol.observation import Array
from gradtool.verify.thresholds.diagnosis import (
    MONOMIAL_FIT,
    MONOMIAL_LARGEST_POWER,
    MONOMIAL_MOST_ENTRIES,
    MONOMIAL_POWER_DIFFERENCE,
    MONOMIAL_POWER_PARTS,
    MONOMIAL_SPARE_ENTRIES,
)


class _Quantity(msgspec.Struct, frozen=True):
    """The size of something at hand, and its sign, at each of the chosen entries."""

    name: str
    values: FloatArray


def is_off_by_a_product(derivatives: Derivatives, comparison: Comparison) -> Guesses:
    """The derivative times powers of inputs and outputs."""
    numeric = comparison.numeric.value
    found = _explained(derivatives, comparison, comparison.analytic, numeric)
    if found:
        words, scale = found
        text = f"is the derivative times {words}"
        yield f"{text}: did you forget an inner derivative or a division?", scale


def is_without_a_term(derivatives: Derivatives, comparison: Comparison) -> Guesses:
    """The derivative less a term that is a product of powers, or one number."""
    analytic, numeric = comparison.analytic, comparison.numeric.value
    ones = np.where(_wrong(comparison), 1.0, 0.0)
    found = _explained(derivatives, comparison, numeric - analytic, ones)
    if found:
        words, term = found
        yield f"is missing the term {words}", numeric - term


def _wrong(comparison: Comparison) -> BoolArray:
    return np.asarray(np.abs(comparison.analytic - comparison.numeric.value) > comparison.allowed)


def _explained(
    derivatives: Derivatives, comparison: Comparison, target: FloatArray, unit: FloatArray
) -> tuple[str, FloatArray] | None:
    """Words for the product that turns `unit` into `target`, and `unit` times it."""
    if not has_entries(comparison) or input_block(comparison).is_complex:
        return None
    chosen = (unit != 0) & (target != 0) & np.isfinite(unit) & np.isfinite(target)
    if (((target != 0) | (unit != 0)) & ~chosen).any():
        return None
    rows, columns = (each[:MONOMIAL_MOST_ENTRIES] for each in np.nonzero(chosen))
    ratio = target[rows, columns] / unit[rows, columns]
    quantities = list(_quantities(derivatives, comparison, rows, columns))
    for names, powers, factor in _fits(ratio, quantities):
        every = _everywhere(derivatives, comparison, names, powers)
        return _words(names, powers, factor), np.where(chosen, factor * unit * every, 0.0)
    return None


def _fits(
    ratio: FloatArray, quantities: Sequence[_Quantity]
) -> Iterator[tuple[list[str], list[float], float]]:
    """Products of none, one or two quantities that give the ratio, up to a common factor."""
    for count in (0, 1, 2):
        if len(ratio) < count + 1 + MONOMIAL_SPARE_ENTRIES:
            return
        for chosen in itertools.combinations(quantities, count):
            powers = _powers(ratio, [each.values for each in chosen])
            if powers is None:
                continue
            product = np.prod([q.values**p for q, p in zip(chosen, powers, strict=True)], axis=0)
            factor = float(np.median(ratio / product))
            if np.allclose(ratio, factor * product, rtol=MONOMIAL_FIT, atol=0.0):
                yield [each.name for each in chosen], powers, factor


def _powers(ratio: FloatArray, values: Sequence[FloatArray]) -> list[float] | None:
    """The exponents, where they come out as whole or half numbers other than zero."""
    if not values:
        return []
    logs = np.log(np.abs([*values, np.full(len(ratio), np.e)])).T
    solution, _, rank, _ = np.linalg.lstsq(
        logs, np.log(np.abs(ratio)), rcond=MONOMIAL_POWER_DIFFERENCE
    )
    powers = [
        round(MONOMIAL_POWER_PARTS * float(each)) / MONOMIAL_POWER_PARTS for each in solution[:-1]
    ]
    apart = np.abs(np.array(powers) - solution[:-1]).max()
    plausible = all(power and abs(power) <= MONOMIAL_LARGEST_POWER for power in powers)
    whole = all(power == int(power) or (v > 0).all() for power, v in zip(powers, values))  # noqa: B905 - one for each
    return (
        powers
        if rank == logs.shape[1] and apart < MONOMIAL_POWER_DIFFERENCE and plausible and whole
        else None
    )


def _quantities(
    derivatives: Derivatives, comparison: Comparison, rows: Array, columns: Array
) -> Iterator[_Quantity]:
    """Yield quantities that backward may have used at these rows and columns."""
    for name, matrix in _matrices(derivatives, comparison):
        values = matrix[rows, columns]
        if values.size and np.isfinite(values).all() and (values != 0).all():
            yield _Quantity(name, values)


def _matrices(derivatives: Derivatives, comparison: Comparison) -> Iterator[tuple[str, FloatArray]]:
    """Inputs and outputs, each spread over the Jacobian as broadcasting would spread it."""
    shape = comparison.analytic.shape
    outputs, own = derivatives.forward.outputs, input_block(comparison)
    blocks = comparison.layout.outputs.blocks
    for argument, primal in zip(derivatives.function.arguments, derivatives.primals, strict=True):
        if primal.dtype.kind != "f":
            continue
        along = _spread(primal, own)
        if along is not None:
            yield f"`{argument.name}`", np.broadcast_to(along, shape)
        elif len(blocks) == 1 and (down := _spread(primal, blocks[0])) is not None:
            yield f"`{argument.name}`", np.broadcast_to(down[:, None], shape)
    if len(outputs) == 1 and outputs[0] is not None and outputs[0].dtype.kind == "f":
        down = np.asarray(outputs[0], np.float64).reshape(-1)
        for name, values in (
            ("output", down),
            ("(1 - output)", 1 - down),
            ("(1 + output)", 1 + down),
        ):
            yield name, np.broadcast_to(values[:, None], shape)


def _spread(array: Array, block: Block) -> FloatArray | None:
    """The array's values at each entry of `block`, if it broadcasts to its shape."""
    if block.is_complex:
        return None
    try:
        return np.asarray(np.broadcast_to(array, block.shape), np.float64).reshape(-1)
    except ValueError:
        return None


def _everywhere(
    derivatives: Derivatives, comparison: Comparison, names: Sequence[str], powers: Sequence[float]
) -> FloatArray:
    matrices = dict(_matrices(derivatives, comparison))
    with np.errstate(all="ignore"):
        product: FloatArray = np.prod(
            [matrices[name] ** power for name, power in zip(names, powers, strict=True)], axis=0
        )
    return product


def _words(names: Sequence[str], powers: Sequence[float], factor: float) -> str:
    """``2 * `x`**2 / output``."""
    if not names:
        return f"{factor_words(factor)}, the same in each entry"
    above = [_power(name, power) for name, power in zip(names, powers, strict=True) if power > 0]
    below = [_power(name, -power) for name, power in zip(names, powers, strict=True) if power < 0]
    number = factor_words(factor)
    if number == "-1" and above:
        above[0] = f"-{above[0]}"
    elif number != "1" or not above:
        above.insert(0, number)
    return " / ".join([" * ".join(above), *below])


def _power(name: str, power: float) -> str:
    return name if power == 1 else f"{name}**{power:g}"

"""The wording of numbers, places and counts in findings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradtool.verify.comparison.derivatives import Comparison
from gradtool.verify.diagnosis.evidence import Worst, entry_of, place_of_column, place_of_row
from gradtool.verify.oracle.estimate import Status
from gradtool.verify.thresholds.diagnosis import MOST_SHOWN_DIGITS, SHOWN_DIGITS


def off(comparison: Comparison, worst: Worst, rows: Sequence[str] = ()) -> str:
    """Word the error: ``in 12 of 600 entries; worst at [3]: analytic 0.5, numeric 1 ± 2e-11``.

    Args:
        comparison: The derivatives.
        worst: The worst entry.
        rows: Names of what is differentiated; by default the outputs, by their numbers.
    """
    return f"{share(comparison, worst, rows)}: {values(comparison, worst)}"


def values(comparison: Comparison, worst: Worst) -> str:
    """The two values at the worst entry, with enough digits to see them differ."""
    at = worst.row, worst.column
    entry = entry_of(comparison, worst)
    analytic, numeric = entry.analytic, entry.numeric
    if not comparison.located and comparison.numeric.status[at] == Status.KINK:
        left, right = comparison.numeric.left[at], comparison.numeric.right[at]
        return (
            f"analytic {number(analytic)}, slopes {number(left)} on the left, {number(right)} "
            "on the right"
        )
    if not math.isfinite(numeric):
        return f"analytic {number(analytic)}, numeric unknown"
    shown = apart(analytic, numeric)
    if not entry.error:
        return f"analytic {shown[0]}, exact {shown[1]}"
    return f"analytic {shown[0]}, numeric {shown[1]} ± {entry.error:.1g}"


def share(comparison: Comparison, worst: Worst, rows: Sequence[str] = ()) -> str:
    """Word the number of wrong entries, and the place of the worst."""
    if comparison.located:
        return _located(comparison, worst)
    if comparison.layout.directions[comparison.argument] is not None:
        is_symmetric = comparison.layout.is_symmetric(comparison.argument)
        along = "symmetric changes" if is_symmetric else "random directions"
        return f" along {worst.wrong} of {worst.compared} {along}; worst"
    place = at_column(comparison, worst.column)
    if worst.compared == 1:
        return place
    count = f"{worst.wrong} of {worst.compared} entries"
    return f" in {count}; worst{place}{_for_output(comparison, worst, rows)}"


def _for_output(comparison: Comparison, worst: Worst, rows: Sequence[str]) -> str:
    """``, for output 1 at [3, 4]``; nothing where that is one number or a functional of all."""
    output, index = place_of_row(comparison, worst.row)
    name = rows[output] if rows and output is not None else f"output {output}"
    return f", for {name} at [{', '.join(map(str, index))}]" if index else ""


def _located(comparison: Comparison, worst: Worst) -> str:
    """Word the place of one wrong entry: `` at [3] with respect to the input at [5]``."""
    entry = entry_of(comparison, worst)
    output, index = (
        f" at [{', '.join(map(str, place))}]" if place else ""
        for place in (entry.output_index, entry.input_index)
    )
    return f"{output} with respect to the input{index}"


def at_column(comparison: Comparison, column: int) -> str:
    """`` at [3, 4]``, and which part of a complex number; nothing where there is one entry."""
    index = place_of_column(comparison, column)
    place = f" at [{', '.join(map(str, index))}]" if index else ""
    if index is None or not comparison.layout.inputs[comparison.argument].blocks[0].is_complex:
        return place
    return f"{place} ({('real', 'imaginary')[column % 2]} part)"


def listed(words: Sequence[object]) -> str:
    """``1``, ``1 and 2``, ``1, 2 and 3``."""
    texts = [str(word) for word in words]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def outputs(worst: Worst) -> str:
    """Word the outputs: ``output 0``, ``outputs 0 and 2``, or ``the outputs`` for functionals."""
    if not worst.outputs:
        return "the outputs"
    return f"output{'s' if len(worst.outputs) > 1 else ''} {listed(worst.outputs)}"


def number(value: float) -> str:
    """Format a number with few digits."""
    return f"{value + 0.0:.{SHOWN_DIGITS}g}"


def apart(first: float, second: float, digits: int = SHOWN_DIGITS) -> tuple[str, str]:
    """Two numbers with enough digits to look different, if they are, and at least `digits`."""
    first, second = first + 0.0, second + 0.0  # A zero has no sign.
    for count in range(digits, MOST_SHOWN_DIGITS):
        texts = f"{first:.{count}g}", f"{second:.{count}g}"
        if texts[0] != texts[1]:
            return texts
    return f"{first:.{MOST_SHOWN_DIGITS}g}", f"{second:.{MOST_SHOWN_DIGITS}g}"

"""The evidence for a finding, as plain data: numbers, a part of the Jacobian, source lines.

Other packages import these types from `gradtool.results.report`. All of them are bounded in size,
so that people and programs can still read a report of many findings.
"""

from __future__ import annotations

import math

import msgspec

Scalar = float | str
"""A real number. One that is not finite is kept as its text, because JSON has none, and so
is a complex number."""

Row = tuple[Scalar, ...]


def scalar(value: float) -> Scalar:
    """A number as a report keeps it."""
    return float(value) if math.isfinite(value) else str(float(value))


class Struct(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of the result types: frozen, with defaults omitted from JSON."""


class Source(Struct, frozen=True, kw_only=True):
    """The lines of the user's source around the location of a finding."""

    first: int
    """Number of the first line, counted from 1."""
    lines: tuple[str, ...]
    column: int
    """Where, in the line of the finding, the text that is meant begins, counted from 1."""
    end_column: int
    """The column behind that text."""


class JacobianBlock(Struct, frozen=True, kw_only=True):
    """The part of a Jacobian around its worst entry: a row for each output coordinate.

    Where a Jacobian is too large to compare in full, rows are random functionals of the outputs
    and columns random directions of the input. Values are rounded for display; `Evidence` keeps
    the worst entry in full.
    """

    first_row: int
    first_column: int
    rows: int
    """Rows of the whole Jacobian."""
    columns: int
    """Columns of the whole Jacobian."""
    row_labels: tuple[str, ...]
    """``output 0[1, 2]``, or ``grad x[1, 2]`` where a gradient is differentiated."""
    column_labels: tuple[str, ...]
    """``[1, 2]``: the index in the argument."""
    worst: tuple[int, int]
    """Row and column of the worst entry, counted within this block."""
    analytic: tuple[Row, ...]
    numeric: tuple[Row, ...]
    difference: tuple[Row, ...]
    """Analytic minus numeric, before either was rounded."""
    error: tuple[Row, ...]
    """The oracle's own estimate of the error of `numeric`."""
    wrong: tuple[tuple[bool, ...], ...]
    """Which entries the finding is about."""


class LadderCurve(Struct, frozen=True, kw_only=True):
    """Difference quotients of the worst entry at decreasing steps.

    They approach the numeric value until rounding takes over, which shows whether there is a
    derivative.
    """

    steps: tuple[float, ...]
    quotients: Row
    """The central difference quotient at each step."""
    noise: Row
    """The error of the quotient at each step that rounding alone can cause."""


class Evidence(Struct, frozen=True, kw_only=True):
    """The numbers behind a finding, at its worst entry."""

    argument: str | None = None
    """Name of the input the derivative is taken with respect to."""
    output: int | None = None
    """Position of the output, or of the gradient, that is differentiated."""
    gradient_of: str | None = None
    """Name of the input whose gradient is differentiated; None where an output is."""
    input_index: tuple[int, ...] | None = None
    output_index: tuple[int, ...] | None = None
    analytic: Scalar | None = None
    numeric: Scalar | None = None
    error: Scalar | None = None
    """The oracle's own estimate of the error of `numeric`."""
    difference: Scalar | None = None
    tolerance: Scalar | None = None
    """The largest `difference` allowed, the oracle's error included."""
    wrong: int | None = None
    """Number of entries outside their tolerance."""
    compared: int | None = None
    """Number of entries compared."""
    jacobian: JacobianBlock | None = None
    ladder: LadderCurve | None = None

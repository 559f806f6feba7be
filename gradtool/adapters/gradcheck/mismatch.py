"""Two Jacobians that should be equal, held against each other in fixed tolerances."""

from __future__ import annotations

import numpy as np

from gradtool.verify.oracle.fixed_step import outside
from gradtool.verify.protocol.coordinates import Block, FloatArray


def mismatch(
    analytic: FloatArray, numeric: FloatArray, row: Block, column: Block, atol: float, rtol: float
) -> str | None:
    """Where and by how much the two differ; None where they agree.

    Args:
        analytic: One row for each coordinate of the output `row`, one column for each of the
            input `column`.
        numeric: The same, and the side that the relative tolerance is measured by.
        row: The output.
        column: The input. Where it is complex, the derivatives with respect to the two parts
            of an entry are compared as one complex number.
        atol: Absolute tolerance.
        rtol: Relative tolerance.
    """
    claimed, measured = _entries(analytic, column), _entries(numeric, column)
    wrong = outside(claimed, measured, atol=atol, rtol=rtol)
    if not wrong.any():
        return None
    with np.errstate(all="ignore"):
        difference = np.abs(claimed - measured)
        allowed = atol + rtol * np.abs(measured)
        excess = np.where(wrong, difference - allowed, -np.inf)
    # 0.0 makes 0 of -0.
    worst = np.unravel_index(np.argmax(np.nan_to_num(excess, nan=np.inf)), wrong.shape)
    return (
        f"{wrong.sum()} of {wrong.size} entries differ, most {_place(row, column, worst)}: "
        f"analytic {claimed[worst] + 0.0:.10g}, numeric {measured[worst] + 0.0:.10g}, "
        f"difference {difference[worst]:.3g}, tolerance {allowed[worst]:.3g}"
    )


def _entries(jacobian: FloatArray, column: Block) -> FloatArray:
    """Derivatives with respect to entries of the input, complex where the input is."""
    if not column.is_complex:
        return jacobian
    paired: FloatArray = np.ascontiguousarray(jacobian).view(np.complex128)
    return paired


def _place(row: Block, column: Block, worst: tuple[np.intp, ...]) -> str:
    at, wrt = int(worst[0]), int(worst[1])
    part = ("the real part at ", "the imaginary part at ")[at % 2] if row.is_complex else ""
    entry = 2 * wrt if column.is_complex else wrt
    return f"at {part}output index {row.index(at)} and input index {column.index(entry)}"

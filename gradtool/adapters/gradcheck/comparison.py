"""Comparison of analytic Jacobians with numeric ones, in fixed tolerances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gradtool.spelling import plural
from gradtool.verify.oracle.fixed_step import outside
from gradtool.verify.protocol.coordinates import Block, FloatArray


class ProbeVectors:
    """The cotangents, or tangents, from which a whole Jacobian is computed.

    One vector for each coordinate, with its entry of `scaling` there, then `together`. A backward
    that squares or clips its cotangent would be hidden by entries of one; a backward that mixes
    entries of its cotangent, by vectors with a single entry.
    """

    def __init__(self, scaling: FloatArray, together: FloatArray) -> None:
        self.scaling = scaling
        self.together = together

    def __len__(self) -> int:
        return len(self.scaling) + 1

    def rows(self, chosen: Sequence[int]) -> FloatArray:
        """Return the chosen vectors, one in each row."""
        rows = np.zeros((len(chosen), len(self.scaling)))
        for row, number in zip(rows, chosen, strict=True):
            if number < len(self.scaling):
                row[number] = self.scaling[number]
            else:
                row[:] = self.together
        return rows

    def __iter__(self) -> Iterator[FloatArray]:
        for number in range(len(self)):
            yield self.rows([number])[0]


def mismatch(
    head: str,
    analytic: FloatArray,
    numeric: FloatArray,
    row: Block,
    column: Block,
    atol: float,
    rtol: float,
) -> str | None:
    """Describe where and by how much two Jacobians differ; None if they agree.

    As in PyTorch one of a complex output is said to be of its imaginary part, if that is wrong.

    Args:
        head: What differs.
        analytic: One row for each coordinate of the output `row`, one column for each of the
            input `column`.
        numeric: The same, and the reference for the relative tolerance.
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
    if row.is_complex:
        head = f"While considering the {_part(wrong)} part of complex outputs only, {head}"
    # Adding 0.0 turns -0 into 0.
    worst = np.unravel_index(np.argmax(np.nan_to_num(excess, nan=np.inf)), wrong.shape)
    return (
        f"{head}: {wrong.sum()} of {plural(wrong.size, 'entry', 'entries')} "
        f"{'differs' if wrong.sum() == 1 else 'differ'}; worst "
        f"{_place(row, column, worst)}: analytic {claimed[worst] + 0.0:.10g}, "
        f"numeric {measured[worst] + 0.0:.10g}, difference {difference[worst]:.3g}, "
        f"tolerance {allowed[worst]:.3g}"
    )


def _part(wrong: np.ndarray) -> str:
    return "imaginary" if wrong[1::2].any() else "real"


def _entries(jacobian: FloatArray, column: Block) -> FloatArray:
    """Return the derivatives with respect to entries of the input, complex if the input is."""
    if not column.is_complex:
        return jacobian
    paired: FloatArray = np.ascontiguousarray(jacobian).view(np.complex128)
    return paired


def _place(row: Block, column: Block, worst: tuple[np.intp, ...]) -> str:
    at, wrt = int(worst[0]), int(worst[1])
    part = ("the real part at ", "the imaginary part at ")[at % 2] if row.is_complex else ""
    entry = 2 * wrt if column.is_complex else wrt
    return f"at {part}output index {row.index(at)} and input index {column.index(entry)}"


def nonlinearity(
    cotangent: FloatArray,
    jacobian: FloatArray,
    returned: FloatArray,
    atol: float,
    rtol: float,
    head: str,
    names: tuple[str, str],
) -> str | None:
    """Describe how `returned` differs from `cotangent` times `jacobian`; None if they agree.

    `head` says what is compared; `names` are those of the method and of the argument it should be
    linear in.
    """
    expected = cotangent @ jacobian
    difference = np.abs(returned - expected)
    if np.all(difference <= atol):
        return None
    allowed = atol + rtol * (np.abs(cotangent) @ np.abs(jacobian))
    excess = difference - allowed
    if np.all(excess <= 0):
        return None
    worst = int(np.argmax(np.nan_to_num(excess, nan=np.inf)))
    return (
        f"{head}: every entry is right, but {names[0]} is not linear in {names[1]}: for several "
        f"entries together it returns {returned[worst]:.10g}, for the same entries one by one a "
        f"total of {expected[worst]:.10g}"
    )

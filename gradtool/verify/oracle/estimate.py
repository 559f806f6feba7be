"""The oracle's result, entry by entry: value ± error, no derivative here, or unknown."""

from __future__ import annotations

import enum

import msgspec
import numpy as np
from numpy.typing import NDArray

from gradtool.verify.protocol.coordinates import BoolArray, FloatArray

StatusArray = NDArray[np.int8]


class Status(enum.IntEnum):
    """The kind of result for one entry of a Jacobian."""

    KNOWN = 0
    """`Estimate.value` within `Estimate.error`."""
    FLAT = 1
    """The output is constant here, or moves by no more than its noise far as the input may go."""
    KINK = 2
    """No derivative: the slopes from the left and from the right differ, or one is vertical."""
    STEPPED = 3
    """The output moves in steps that hide the derivative: cannot tell."""
    UNKNOWN = 4
    """No limit was found: cannot tell."""
    OUTSIDE = 5
    """The function is not finite here, or nowhere around: cannot tell."""


class Estimate(msgspec.Struct, frozen=True):
    """The numeric derivative: one row for each output, one column for each input.

    `value` and `error` are NaN where nothing is known. `left` and `right` are the one-sided
    slopes at a kink; where an output moves in steps, they bound what its slope may be meant to
    be; elsewhere they are NaN.
    """

    value: FloatArray
    error: FloatArray
    status: StatusArray
    left: FloatArray
    right: FloatArray

    def copy(self) -> Estimate:
        """The same in memory of its own."""
        return Estimate(*(getattr(self, name).copy() for name in self.__struct_fields__))

    def column(self, number: int) -> Estimate:
        """One column."""
        chosen = slice(number, number + 1)
        return Estimate(*(getattr(self, name)[:, chosen] for name in self.__struct_fields__))

    def put(self, column: int, answer: Estimate, rows: BoolArray) -> None:
        """Replace `rows` of `column` by those of the only column of `answer`."""
        for name in self.__struct_fields__:
            getattr(self, name)[rows, column] = getattr(answer, name)[rows, 0]

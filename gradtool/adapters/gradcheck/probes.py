"""The cotangents or tangents that a whole Jacobian is asked for with.

A backward that squares or clips its cotangent would hide behind a cotangent of one, and one
that mixes entries of it behind cotangents with a single entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gradtool.verify.protocol.coordinates import FloatArray


class Probes:
    """One vector for each coordinate, with its entry of `scaling` there; then `together`."""

    def __init__(self, scaling: FloatArray, together: FloatArray) -> None:
        self.scaling = scaling
        self.together = together

    def __len__(self) -> int:
        return len(self.scaling) + 1

    def rows(self, chosen: Sequence[int]) -> FloatArray:
        """Some of them, one in each row."""
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

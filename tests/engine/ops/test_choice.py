"""A choice by bits is that of `np.where`, down to the sign of zero and the bits of NaN."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine._ops.core.choice import chosen


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_every_bit_is_that_of_where(dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(80, 100)).astype(dtype) for _ in range(2))
    if dtype[0] in "fc":
        x[0], y[1], x[2] = np.nan, np.inf, -0.0
    mask = rng.random(x.shape) < 0.5
    zero = np.zeros((), dtype)
    for each in (
        (mask, x, y),
        (mask.T, x.T, y.T),
        (mask, x, y[0]),
        (mask, zero, y),
        (mask, x, zero[()]),
    ):
        found, expected = chosen(*each), np.where(*each)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()

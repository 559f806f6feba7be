"""Arrays of any shape and kind as one real vector, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradtool.verify.protocol.coordinates import Coordinates

_DTYPES = st.sampled_from(["f4", "f8", "c8", "c16", "i8", "?"])


@given(
    arrays=st.lists(
        _DTYPES.flatmap(
            lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))
        ),
        max_size=4,
    )
)
def test_there_and_back(arrays):
    layout = Coordinates(arrays)
    back = layout.unflatten(layout.flatten(arrays))
    for array, again in zip(arrays, back, strict=True):
        if array.dtype.kind in "fc":
            assert again.dtype == array.dtype
            assert np.array_equal(array, again, equal_nan=True)
        else:
            assert again is None


def test_a_strided_array_is_read_in_its_own_order():
    array = np.arange(6.0).reshape(2, 3).T
    assert Coordinates([array]).flatten([array]).tolist() == [0, 3, 1, 4, 2, 5]


def test_an_index_is_that_of_the_array():
    real, complex_ = Coordinates([np.zeros((2, 3)), np.zeros((2, 2), complex)]).blocks
    assert real.index(4) == (1, 1)
    assert complex_.index(5) == (1, 0)
    assert Coordinates([np.float64(1)]).blocks[0].index(0) == ()


def test_none_takes_no_place():
    layout = Coordinates([None, np.ones(2)])
    assert layout.size == 2
    assert layout.flatten([None, np.array([3.0, 4.0])]).tolist() == [3, 4]


@pytest.mark.parametrize("other", [None, np.ones(3), np.ones(2, complex)])
def test_another_shape_or_kind_is_refused(other):
    with pytest.raises(ValueError, match=r"expected|complex"):
        Coordinates([np.ones(2)]).flatten([other])


def test_another_number_of_arrays_is_refused():
    with pytest.raises(ValueError, match="expected 1 arrays, got 2"):
        Coordinates([np.ones(2)]).flatten([np.ones(2), np.ones(2)])

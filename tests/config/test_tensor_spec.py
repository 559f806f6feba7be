"""Nested lists of numbers are judged as by NumPy."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradtool.config.tensor_spec import ValuesError, fits, kind, numbers

_WHOLE = st.integers(-(2**63), 2**63 - 1)
_NUMBERS = st.booleans() | _WHOLE | st.floats()
_NESTED = st.recursive(
    _NUMBERS | st.text(max_size=2) | st.none(), lambda inner: st.lists(inner, max_size=3)
)


@given(_NESTED)
def test_lists_are_taken_where_numpy_makes_numbers_of_them(values: object) -> None:
    try:
        array = np.array(values)
    except ValueError:
        array = np.array(None)
    if array.dtype.kind not in "bif":
        with pytest.raises(ValuesError):
            numbers(values)
        return
    entries = numbers(values)
    assert kind(entries) == array.dtype.kind
    np.testing.assert_array_equal(np.array(entries, array.dtype), array.ravel())


@given(_NUMBERS, st.sampled_from(["bool", "uint8", "int8", "int16", "int32", "int64"]))
def test_a_number_fits_where_numpy_keeps_it(value: float, dtype: str) -> None:
    array = np.array(value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # Of what does not fit.
        cast = array.astype(dtype)
    # As objects, for an int64 and a float64 would meet as floats.
    assert fits(value, dtype) == (cast.item() == value)


_LARGE = st.floats(65000, 66000) | st.floats(3.4e38, 3.41e38)


@given(
    _NUMBERS | _LARGE,
    st.sampled_from(["float16", "float32", "float64", "complex64", "complex128"]),
)
@example(65520, "float16")
@example(math.nextafter(65520, 0), "float16")
@example(2.0**128 - 2.0**103, "float32")
@example(math.nextafter(2.0**128 - 2.0**103, 0), "complex64")
def test_a_number_fits_a_floating_dtype_unless_it_overflows(value: float, dtype: str) -> None:
    with np.errstate(over="ignore"):
        cast = np.array(value).astype(dtype)
    assert fits(value, dtype) == (not np.isinf(cast) or math.isinf(value))


@pytest.mark.parametrize("values", [2**63, [2**63, 1.0], [[10**400]]])
def test_whole_numbers_beyond_all_dtypes_are_refused(values: object) -> None:
    with pytest.raises(ValuesError, match="beyond int64"):
        numbers(values)


def test_more_dimensions_than_arrays_have_are_refused() -> None:
    values: list[object] = [1.0]
    for _ in range(64):
        values = [values]
    with pytest.raises(ValuesError, match="'values' have more than 64 dimensions"):
        numbers(values)

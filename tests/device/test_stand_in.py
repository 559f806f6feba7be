"""The stand-in refuses what CuPy refuses: else the tests that use it would mean nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.device.fake_array import OutOfRangeError


def test_functions_that_cupy_lacks_are_refused(cupy: Any) -> None:
    with pytest.raises(TypeError, match="CuPy has no block"):
        np.block([cupy.ones((2, 2))])


def test_arguments_that_cupy_does_not_take_are_refused(cupy: Any) -> None:
    with pytest.raises(AssertionError, match="unexpected keyword argument 'initial'"):
        np.max(cupy.ones(3), initial=0)
    with pytest.raises(AssertionError, match="unexpected keyword argument 'where'"):
        np.add(cupy.ones(3), 1, where=True)


def test_methods_of_ufuncs_do_not_dispatch(cupy: Any) -> None:
    with pytest.raises(TypeError, match=r"numpy\.maximum\.accumulate"):
        np.maximum.accumulate(cupy.ones(3))


def test_numpy_arrays_beside_it_are_refused(cupy: Any) -> None:
    with pytest.raises(TypeError, match="Unsupported type"):
        cupy.ones(3) + np.ones(3)
    with pytest.raises(TypeError, match="Unsupported type"):
        cupy.ones(3)[:] = np.ones(3)
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(cupy.ones(3))


def test_dtypes_without_a_loop_are_refused(cupy: Any) -> None:
    with pytest.raises(TypeError, match="Wrong type of arguments for logical_not"):
        np.logical_not(cupy.ones(3, complex))


def test_indices_that_cupy_would_wrap_are_found(cupy: Any) -> None:
    with pytest.raises(OutOfRangeError):
        cupy.ones(3)[cupy.asarray(np.array([5]))]


def test_attributes_that_cupy_lacks_are_refused(cupy: Any) -> None:
    with pytest.raises(AttributeError, match="tobytes_"):
        cupy.ones(3).tobytes_  # noqa: B018
    with pytest.raises(AttributeError, match="writeable"):
        cupy.ones(3).flags.writeable  # noqa: B018


def test_results_without_dimensions_are_arrays(cupy: Any) -> None:
    assert cupy.ones(3).sum().shape == ()
    assert cupy.ones(3)[0].shape == ()


def test_results_that_a_device_showed_to_differ_from_numpys_differ(cupy: Any) -> None:
    """CuPy 14.2 on an H200: see the tests of `gradtool.device.differences`."""
    with pytest.raises(AssertionError, match="takes an empty shape for none"):
        np.zeros_like(cupy.ones(3), shape=())
    with pytest.raises(NotImplementedError, match="Writeable"):
        np.lib.stride_tricks.sliding_window_view(cupy.ones(3), 2, writeable=True)
    with pytest.raises(ValueError, match="must have"):
        np.linalg.solve(cupy.ones((2, 2)), cupy.ones((3, 2, 2)))
    missing = cupy.asarray(np.array([1.0, np.nan, np.nan]))
    assert int(np.argmax(missing)) == 2
    infinite = cupy.asarray(np.array([np.inf]))
    assert float(np.floor_divide(cupy.asarray(np.array([-5.0])), infinite)[0].get()) == 0
    numbers = cupy.zeros(1)
    cupy.maximum.at(numbers, cupy.asarray(np.array([0])), cupy.asarray(np.array([0.1])))
    assert float(numbers[0].get()) == np.float32(0.1)

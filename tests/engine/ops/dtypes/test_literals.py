"""Python data and NumPy arrays become tensors of the dtype and shape that PyTorch gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Make = Callable[[Any], Any]

INFERRED: list[tuple[Make, str, tuple[int, ...]]] = [
    (lambda t: 1.5, "float32", ()),
    (lambda t: 1, "int64", ()),
    (lambda t: True, "bool", ()),
    (lambda t: 1j, "complex64", ()),
    (lambda t: [1, 2.5], "float32", (2,)),
    (lambda t: [True, 2], "int64", (2,)),
    (lambda t: [1, 1j], "complex64", (2,)),
    (lambda t: [[1, 2], [3, 4], [5, 6]], "int64", (3, 2)),
    (lambda t: ((1.0,), (2.0,)), "float32", (2, 1)),
    (lambda t: [], "float32", (0,)),
    (lambda t: [[], []], "float32", (2, 0)),
    (lambda t: range(4), "int64", (4,)),
    (lambda t: np.float64(1), "float64", ()),
    (lambda t: [np.float32(1), 2.0], "float32", (2,)),
    (lambda t: [np.float64(1), 2.0], "float64", (2,)),
    (lambda t: np.arange(3, dtype=np.int16), "int16", (3,)),
    (lambda t: [np.ones(2, np.int16)] * 3, "int16", (3, 2)),
    (lambda t: [t.tensor(1.0, dtype=t.float64), 2], "float64", (2,)),
    (lambda t: [t.tensor([1]), t.tensor([[3]])], "int64", (2,)),
]


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy:UserWarning")
@pytest.mark.parametrize(("make", "dtype", "shape"), INFERRED)
def test_infers(torch: Any, make: Make, dtype: str, shape: tuple[int, ...]) -> None:
    made = torch.tensor(make(torch))
    assert str(made.dtype) == f"torch.{dtype}"
    assert tuple(made.shape) == shape


def test_keeps_the_order_of_elements(torch: Any) -> None:
    data = [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]
    assert torch.tensor(data).tolist() == data


def test_converts_to_the_dtype_given(torch: Any) -> None:
    assert torch.tensor([1.7, -1.7], dtype=torch.int64).tolist() == [1, -1]
    assert torch.tensor([0, 2], dtype=torch.bool).tolist() == [False, True]


def test_makes_a_leaf_that_requires_a_gradient(torch: Any) -> None:
    made = torch.tensor([1.0], requires_grad=True)
    assert made.requires_grad
    assert made.is_leaf


def test_copies_an_array(torch: Any) -> None:
    array = np.zeros(2)
    made = torch.tensor(array)
    array[0] = 1
    assert made.tolist() == [0, 0]


def test_from_numpy_shares_memory_both_ways(torch: Any) -> None:
    array = np.zeros(3)
    made = torch.from_numpy(array)
    made[0] = 1
    array[1] = 2
    assert made.tolist() == array.tolist() == [1, 2, 0]


def test_from_numpy_refuses_negative_strides(torch: Any) -> None:
    with pytest.raises(ValueError, match="At least one stride in the given numpy array"):
        torch.from_numpy(np.arange(3)[::-1])


def test_as_tensor_copies_only_where_it_must(torch: Any) -> None:
    array, made = np.zeros(2), torch.zeros(2)
    assert torch.as_tensor(made) is made
    assert np.shares_memory(torch.as_tensor(array).numpy(), array)
    assert not np.shares_memory(torch.as_tensor(array, dtype=torch.float32).numpy(), array)
    assert torch.as_tensor([1, 2]).dtype is torch.int64


def test_asarray_copies_on_request(torch: Any) -> None:
    array = np.zeros(2)
    assert np.shares_memory(torch.asarray(array).numpy(), array)
    assert not np.shares_memory(torch.asarray(array, copy=True).numpy(), array)


def test_warns_when_a_tensor_is_copied_by_tensor(torch: Any) -> None:
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        assert torch.tensor(torch.ones(2)).tolist() == [1, 1]


def test_the_default_dtype_is_that_of_python_floats(torch: Any) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor(1.0).dtype is torch.float64
        assert torch.zeros(2).dtype is torch.float64
        assert torch.arange(0, 1, 0.5).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)

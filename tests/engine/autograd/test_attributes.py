"""Attributes of tensors that may not be assigned, or only some values, and what errors say."""

from __future__ import annotations

import copy
from typing import Any

import pytest


def leaf(torch: Any) -> Any:
    return torch.ones(2, requires_grad=True)


@pytest.mark.parametrize(
    "name",
    ["is_leaf", "_version", "_base", "output_nr", "grad_fn", "dtype", "shape", "retains_grad"],
)
def test_what_a_tensor_is_cannot_be_assigned(torch: Any, name: str) -> None:
    with pytest.raises(AttributeError, match=f"attribute '{name}' of 'torch._C.TensorBase' obj"):
        setattr(leaf(torch), name, None)


def test_a_node_may_be_set_to_none_only(torch: Any) -> None:
    x = leaf(torch) * 2
    x._grad_fn = None
    with pytest.raises(RuntimeError, match="_grad_fn can be only set to None"):
        x._grad_fn = 3


def test_requires_grad_is_a_bool(torch: Any) -> None:
    with pytest.raises(TypeError, match=r"argument 'requires_grad' \(position 1\) must be bool"):
        leaf(torch).requires_grad_(1)


def test_hooks_may_be_set_to_none(torch: Any) -> None:
    x = leaf(torch)
    x._backward_hooks = None
    assert x._backward_hooks is None
    x.register_hook(lambda grad: grad * 2)
    x.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_the_dtype_of_a_gradient_is_checked_before_its_shape(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="with dtype 'double' to a tensor with grad_dtype"):
        leaf(torch).grad = torch.ones(3, dtype=torch.float64)


@pytest.mark.filterwarnings("ignore:volatile was removed")
def test_variables_are_made_of_tensors(torch: Any) -> None:
    variable = torch.autograd.Variable
    assert variable().shape == (0,)
    assert variable(torch.ones(2), requires_grad=True).requires_grad
    assert not variable(torch.ones(2), volatile=True).requires_grad
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got int"):
        variable(3)
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
        variable(torch.ones(2, dtype=torch.int64), requires_grad=True)
    with pytest.raises(ValueError, match="can't be volatile and require_grad"):
        variable(torch.ones(2), True, True)


def test_a_view_that_cannot_be_followed_is_copied(torch: Any) -> None:
    with torch.no_grad():
        view = leaf(torch)[:1]
        view.mul_(3)
    assert copy.copy(view).tolist() == [3.0]


def test_leaving_the_graph_by_setting_no_node(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True) * 2
    x._grad_fn = None
    assert (x.requires_grad, x.grad_fn) == (False, None)

"""Tensors of a graph that get other data, or another shape, than they were computed with."""

from __future__ import annotations

import warnings
from typing import Any

import pytest


def test_a_gradient_is_summed_to_the_shape_that_was_computed(torch: Any) -> None:
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.data = torch.ones(3)
    y.sum().backward()
    assert x.grad.tolist() == [6]


def test_a_gradient_of_another_shape_is_refused(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.data = torch.ones(2)
    message = (
        r"Function SumBackward0 returned an invalid gradient at index 0 - got \[2\] but expected "
        r"shape compatible with \[3\]"
    )
    with pytest.raises(RuntimeError, match=message):
        y.sum().backward()
    assert x.grad is None


def test_a_cotangent_of_another_shape_is_refused_before_any_gradient_is_added(torch: Any) -> None:
    leaf, x = torch.tensor(1.0, requires_grad=True), torch.ones(3, requires_grad=True)
    y = x * 2
    y.data = torch.ones(2)
    message = r"invalid gradient at index 1 - got \[2\] but expected shape compatible with \[3\]"
    with pytest.raises(RuntimeError, match=message):
        torch.autograd.backward([leaf, y], [torch.tensor(1.0), torch.ones(2)])
    assert leaf.grad is None


def test_a_gradient_gets_the_dtype_that_was_computed(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.data = torch.ones(3, dtype=torch.float64)
    y.sum().backward()
    assert x.grad.dtype is torch.float32


def test_a_result_written_over_a_smaller_one_warns_and_leaves_its_graph(torch: Any) -> None:
    x = torch.ones(1, requires_grad=True)
    y = x.nansum()
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        torch.eq(torch.tensor([1.0, 2.0]), 0, out=y)
    y.sum().backward()
    assert x.grad.tolist() == [2]


def test_results_written_over_nothing_do_not_warn(torch: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.add(torch.ones(2), 1, out=torch.empty(0)).tolist() == [2, 2]


def test_gradients_of_two_shapes_do_not_add_up(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    x.data = torch.ones(2)
    (x * 2).sum().backward()
    x.data = torch.ones(3)
    message = r"The size of tensor a \(2\) must match the size of tensor b \(3\)"
    with pytest.raises(RuntimeError, match=message):
        (x * 2).sum().backward()


def test_a_view_of_what_became_a_part_of_itself_is_taken_by_where_it_lies(torch: Any) -> None:
    x = torch.arange(6.0).requires_grad_()
    base = x * 1
    view = base[:2]
    base.as_strided_((3,), (1,))
    (view * torch.tensor([5.0, 7.0])).sum().backward()
    assert x.grad.tolist() == [5, 7, 0, 0, 0, 0]


def test_a_view_that_reaches_beyond_its_smaller_base_is_not_walked(torch: Any) -> None:
    x = torch.arange(6.0).requires_grad_()
    base = x * 1
    view = base[-2:]
    base.data = torch.ones(4)
    view.mul_(torch.tensor([2.0, 3.0]))
    message = r"setStorage: sizes \[2\], strides \[1\], storage offset 4, and itemsize 4 requiring"
    with pytest.raises(RuntimeError, match=message):
        view.sum().backward()


def test_the_sum_of_one_number_is_another_tensor_to_differentiate(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x.sum()
    of_y, of_x = torch.autograd.grad(y * y, [y, x], create_graph=True)
    assert of_x.grad_fn is not of_y.grad_fn
    assert torch.autograd.grad(of_y, of_x, allow_unused=True) == (None,)


def test_packed_phases_are_unpacked_where_they_are_used(torch: Any) -> None:
    """Doubling what is saved shows by which formula the gradient is computed."""
    x = torch.tensor(1 + 1j, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda held: held * 2, lambda held: held):
        y = x.sgn()
    y.backward(torch.tensor(1 + 3j))
    assert complex(x.grad) == pytest.approx((-11 - 1j) / 32**0.5, abs=1e-5)

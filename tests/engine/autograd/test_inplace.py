"""In-place changes: values, versions and history of a tensor, its base and its views."""

from __future__ import annotations

import operator
from typing import Any

import pytest


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_gradient_of_a_changed_tensor(torch):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    a = x.clone()
    a.mul_(y)
    a.sum().backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 2.0)


def test_saved_output_of_a_changed_tensor(torch):
    x = leaf(torch, 0.5)
    a = x.clone()
    a.exp_()
    a.sum().backward()
    assert x.grad.item() == pytest.approx(a.item())


def test_saved_output_changed_again_is_noticed(torch):
    a = leaf(torch, 0.5).clone()
    a.exp_()
    a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        a.sum().backward()


def test_augmented_assignment_keeps_the_object(torch):
    x = leaf(torch, 2.0)
    a = b = x * 1
    a += 5
    a *= 3
    assert a is b
    a.sum().backward()
    assert x.grad.item() == 3.0


def test_constant_over_a_recorded_tensor(torch):
    x = leaf(torch, 1.0, 2.0)
    a = x * 2
    a.zero_()
    a[0] = 7.0
    b = a + x
    b.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_item_assignment(torch):
    x, v = leaf(torch, 1.0, 2.0, 3.0), leaf(torch, 10.0)
    a = x * 2
    a[1:2] = v
    assert a.tolist() == [2.0, 10.0, 6.0]
    (a * a).sum().backward()
    assert x.grad.tolist() == [8.0, 0.0, 24.0]
    assert v.grad.tolist() == [20.0]


def test_accumulate_into_an_item(torch):
    x = leaf(torch, 1.0, 2.0)
    out = torch.zeros(3, dtype=torch.float64)
    out[0] += x[1] * 3
    out[1:] += x
    out.sum().backward()
    assert out.tolist() == [6.0, 1.0, 2.0]
    assert x.grad.tolist() == [1.0, 4.0]


def test_view_changes_base_and_sibling(torch):
    x = leaf(torch, 1.0, 2.0, 3.0)
    base = x.clone()
    left, right = base[:2], base[1:]
    left.mul_(10)
    assert base.tolist() == [10.0, 20.0, 3.0]
    assert right.tolist() == [20.0, 3.0]
    assert base._version == left._version == right._version == 1
    right.sum().backward()
    assert x.grad.tolist() == [0.0, 10.0, 1.0]


def test_base_changes_view(torch):
    x = leaf(torch, 1.0, 2.0)
    base = x.clone()
    view = base[1:]
    base.mul_(4)
    view.sum().backward()
    assert x.grad.tolist() == [0.0, 4.0]


def test_view_of_a_view(torch):
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).requires_grad_()
    base = x.clone()
    base.t()[1].mul_(5)
    base.sum().backward()
    assert x.grad.tolist() == [[1.0, 5.0, 1.0], [1.0, 5.0, 1.0]]


def test_recorded_values_written_to_a_view_of_a_constant(torch):
    x = leaf(torch, 3.0)
    base = torch.zeros(4, dtype=torch.float64)
    view = base.view(2, 2)
    view[0].add_(x)
    assert base.requires_grad
    (base * torch.arange(1.0, 5.0, dtype=torch.float64)).sum().backward()
    assert x.grad.item() == 3.0


def test_second_order_through_a_changed_view(torch):
    x = leaf(torch, 2.0, 3.0)
    base = x * x
    base[0:1].mul_(x[1:])
    (g,) = torch.autograd.grad(base.sum(), x, create_graph=True)
    assert g.tolist() == [12.0, 10.0]
    (gg,) = torch.autograd.grad(g.sum(), x)
    assert gg.tolist() == [6.0 + 4.0, 4.0 + 2.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, x: x.add_(1), "leaf Variable that requires grad"),
        (lambda t, x: x[0:1].add_(1), "view of a leaf Variable"),
        (lambda t, x: x.__setitem__(0, 1.0), "leaf Variable"),
        (lambda t, x: t.zeros(3).expand(2, 3).add_(1), "single memory location"),
        (lambda t, x: t.zeros(3).add_(t.zeros(2, 3)), "broadcast shape"),
        (lambda t, x: t.arange(3).add_(1.5), "can't be cast"),
    ],
)
def test_refused(torch, change, message):
    with pytest.raises(RuntimeError, match=message):
        change(torch, leaf(torch, 1.0, 2.0))


def test_allowed_without_recording(torch):
    x = leaf(torch, 1.0)
    with torch.no_grad():
        x.add_(1)
        x[0] = 5.0
    assert x.tolist() == [5.0]
    assert x.is_leaf
    assert x.requires_grad


@pytest.mark.parametrize("name", ["true_divide", "nn.functional.softsign", "erfinv"])
def test_what_backward_does_not_need_may_be_changed(torch, name):
    x, other = leaf(torch, 0.5), leaf(torch, 0.25)
    function = operator.attrgetter(name)(torch)
    found = function(x, other) if name == "true_divide" else function(x)
    found[0] = 0
    found.sum().backward()
    assert x.grad.item() == 0


def test_detached_memory_shares_the_version(torch):
    x = leaf(torch, 1.0).clone()
    y = x * x
    x.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_data_does_not_share_the_version(torch):
    x = leaf(torch, 2.0).clone()
    y = x * x
    x.data.add_(1)
    y.sum().backward()
    assert x._version == 0


def test_a_saved_tensor_may_not_be_detached_in_place(torch):
    a = leaf(torch, 1.0).clone()
    of_input, of_output = a.sin(), a.exp()
    a.detach_()
    with pytest.raises(RuntimeError, match="a saved tensor that has been detached in-place"):
        of_input.sum().backward()
    of_output.sum().backward()
    x = leaf(torch, 1.0)
    y = x.sin()
    x.requires_grad_(False)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        torch.ones(2)[0].detach_()

"""Gradients that tensors other than leaves retain, and hooks of roots that lead to no input."""

from __future__ import annotations

from typing import Any

import pytest


def leaf(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize(("single", "ran"), [(True, 1), (False, 0)])
def test_the_hooks_of_an_only_root_run_though_it_leads_to_no_input(
    torch: Any, single: bool, ran: int
) -> None:
    x = leaf(torch)
    y, z = x * 1, x * 1
    seen: list[Any] = []
    y.register_hook(seen.append)
    y.retain_grad()
    roots = [y] if single else [y, x * 1]
    found = torch.autograd.grad(roots, z, [torch.ones(2) for _ in roots], allow_unused=True)
    assert found == (None,)
    assert len(seen) == ran
    assert (y.grad is not None) == single


def test_a_detached_tensor_still_retains_the_gradient_of_the_node_it_had(torch: Any) -> None:
    x = leaf(torch)
    y = x * 1
    y.retain_grad()
    total = (y * 2).sum()
    y.detach_()
    assert y.retains_grad
    total.backward()
    assert y.grad.tolist() == [2.0, 2.0]


def test_a_view_that_never_had_a_node_retains_nothing_until_it_is_asked_for_it(torch: Any) -> None:
    base = torch.ones(3) * 1
    view = base[1:]
    base.mul_(leaf(torch).sum())
    view.retain_grad()
    assert not view.retains_grad
    assert view.grad_fn is not None
    view.retain_grad()
    assert view.retains_grad


def test_a_view_that_is_an_input_of_backward_has_its_node_and_retains(torch: Any) -> None:
    x = leaf(torch)
    base = torch.ones(3) * 1
    view = base[1:]
    base.mul_(x.sum())
    (x * 1).sum().backward(inputs=[base, view])
    assert view.retains_grad


def test_a_batch_of_cotangents_is_retained_and_cannot_be_looked_at(torch: Any) -> None:
    x = leaf(torch)
    y = x * 1
    y.retain_grad()
    torch.autograd.grad(y, x, torch.ones(3, 2), is_grads_batched=True)
    with pytest.raises(RuntimeError) as raised:
        y.grad.tolist()
    assert type(raised.value).__name__ == "RuntimeError"

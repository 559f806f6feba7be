"""GradScaler scales losses, and skips steps whose gradients are not finite."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_step_is_that_of_the_unscaled_loss(torch: Any) -> None:
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    loss = scaler.scale((w * 3).sum())
    assert loss.item() == 48
    loss.backward()
    assert w.grad.tolist() == [24, 24]
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [-0.5, -0.5]
    assert scaler.get_scale() == 16


def test_a_step_that_is_not_finite_is_skipped(torch: Any) -> None:
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale((w / 0).sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="unscale_"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [1, 1]
    assert scaler.get_scale() == 4
    assert scaler.state_dict()["scale"] == 4


def test_it_does_nothing_where_it_is_not_enabled(torch: Any) -> None:
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    x = torch.ones(1)
    assert scaler.scale(x) is x
    assert (scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()) == (1.0, False, {})

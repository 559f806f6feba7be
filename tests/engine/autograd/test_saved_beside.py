"""Tensors that a node saves beside those of its formula: none may change before it is walked."""

from __future__ import annotations

import re
from typing import Any

import pytest

MESSAGE = "modified by an inplace operation"
SAVED = (
    ("torch.addcmul(z, x, y)", "xy"), ("torch.addcdiv(z, x, y)", "xy"),
    ("x.nan_to_num()", "x"), ("x.masked_select(x > 0)", "x"), ("torch.dist(x, y)", "xy"),
    ("x.norm(1)", "x"), ("torch.linalg.vector_norm(x)", "x"), ("x.nansum()", "x"),
    ("x.lerp(y, z)", "xyz"), ("x.gather(0, torch.tensor([1]))", "x"),
    ("x.put(torch.tensor([0]), y[:1])", "y"),
    ("x.scatter_reduce(0, torch.tensor([0]), y, 'sum')", "xy"),
    ("torch.nn.functional.mse_loss(x, y)", "xy"),
    ("torch.nn.functional.smooth_l1_loss(x, y)", "xy"),
    ("torch.nn.functional.huber_loss(x, y)", "xy"),
    ("torch.nn.functional.soft_margin_loss(x, y.detach())", "xy"),
    ("torch.nn.functional.layer_norm(x, (2,), y)", "xy"), ("x.kthvalue(1).values", ""),
    ("torch.nn.functional.nll_loss(x[None], torch.tensor([0]))", "x"),
    ("torch.cdist(x[None], y[None])", "xy"),
)  # fmt: skip


def _walks_after_a_change_of(torch: Any, text: str, name: str) -> bool:
    leaf = torch.tensor([0.5, 2.0], requires_grad=True)
    names = {each: leaf * (at + 1) for at, each in enumerate("xyz")}
    out = eval(text, {**names, "torch": torch})
    with torch.no_grad():
        names[name].mul_(1)
    try:
        out.sum().backward()
    except RuntimeError as error:
        return MESSAGE not in str(error)
    return True


@pytest.mark.parametrize(("text", "saved"), SAVED)
def test_a_graph_is_not_walked_after_what_it_saved_changed(
    torch: Any, text: str, saved: str
) -> None:
    for name in set(re.findall(r"\b[xyz]\b", text)):
        assert _walks_after_a_change_of(torch, text, name) is (name not in saved), name


def test_a_node_is_walked_once_though_its_last_step_saves_nothing(torch: Any) -> None:
    x = torch.tensor([2.0], requires_grad=True)
    out = torch.addcmul(x, x, x)
    out.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        out.sum().backward(inputs=[out])


def test_what_no_gradient_needs_may_change(torch: Any) -> None:
    x, y = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0])
    out = torch.addcmul(x, y, y)
    y.zero_()
    out.sum().backward()
    assert x.grad.item() == 1.0

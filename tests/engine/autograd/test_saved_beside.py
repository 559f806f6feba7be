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


SHOWN = (
    ("torch.nn.functional.interpolate(x[None, None], 4, mode='linear')",
     {"output_size": (4,), "align_corners": False, "scales": None}),
    ("torch.nn.functional.interpolate(x[None, None], scale_factor=0.5, mode='linear')",
     {"output_size": (1,), "scales": 0.5}),
    ("torch.nn.functional.conv1d(x[None, None], torch.ones(3, 1, 2), padding=1)",
     {"bias_sym_sizes_opt": (0,), "padding": (1,), "stride": (1,), "transposed": False}),
    ("torch.nn.functional.conv1d(x[None, None], torch.ones(3, 1, 2), torch.ones(3))",
     {"bias_sym_sizes_opt": (3,), "output_padding": (0,)}),
    ("torch.nn.functional.unfold(x.expand(1, 1, 2, 2), 2)", {"self_sym_argsize_minus_1": 2}),
    ("torch.addbmm(x, x.expand(1, 2, 2), x.expand(1, 2, 2))", {"batch1_sym_argsize_1": 2}),
    ("torch.pdist(x[None].expand(2, 2), 1)", {"p": 1.0}),
    ("x.mean()", {"self_sym_sizes": (2,), "self_sym_numel": 2}),
    ("torch.div(x, 2.0, rounding_mode='trunc')", {"rounding_mode": "trunc"}),
    ("torch.threshold(x, 1 + 0j, 1.0)", {"threshold": 1 + 0j}),
    ("x.as_strided((1,), (1,))", {"storage_offset": None}),
    ("x.as_strided((1,), (1,), 1)", {"storage_offset": 1}),
    ("x.max(0).values", {"keepdim": False, "self_sym_sizes": (2,)}),
    ("torch.nn.functional.nll_loss(x[None], torch.tensor([0]))",
     {"reduction": 1, "weight": None, "ignore_index": 2**64 - 100}),
)  # fmt: skip


@pytest.mark.parametrize(("text", "values"), SHOWN, ids=[text for text, _ in SHOWN])
def test_nodes_show_what_they_keep_of_the_arguments(
    torch: Any, text: str, values: dict[str, Any]
) -> None:
    x = torch.tensor([0.5, 2.0], requires_grad=True)
    node = eval(text, {"x": x, "torch": torch}).grad_fn
    found = {name: getattr(node, f"_saved_{name}") for name in values}
    assert repr(found) == repr(values)


def test_what_is_saved_beside_is_shown_until_it_is_freed(torch: Any) -> None:
    x = torch.tensor([[0.5, 2.0]], requires_grad=True)
    loss = torch.nn.functional.nll_loss(x, torch.tensor([0]), torch.tensor([1.0, 2.0]))
    assert loss.grad_fn._saved_self is x
    assert loss.grad_fn._saved_weight.tolist() == [1, 2]
    assert loss.grad_fn._saved_target.tolist() == [0]
    loss.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = loss.grad_fn._saved_weight

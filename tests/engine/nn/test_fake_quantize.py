"""Fake quantization gives what PyTorch's gives, and refuses the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine

VALUES = [[0.33, -1.7, 5.1], [-9.2, 0.05, 0.15]]

Call = Callable[[Any, Any], Any]

CALLS: dict[str, Call] = {
    "one scale": lambda t, x: t.fake_quantize_per_tensor_affine(x, 0.1, 0, -8, 7),
    "a tensor of one scale": lambda t, x: t.fake_quantize_per_tensor_affine(
        x, t.tensor(0.3), t.tensor(1), -8, 7
    ),
    "a scale for each row": lambda t, x: t.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2]), t.tensor([0, 1], dtype=t.int32), 0, -8, 7
    ),
    "a scale for each column": lambda t, x: t.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2, 0.7]), t.tensor([0, 1, 2], dtype=t.int32), 1, -8, 7
    ),
}

REFUSED: dict[str, Call] = {
    "zero point": lambda t, x: t.fake_quantize_per_tensor_affine(x, 0.1, 9, -8, 7),
    "bounds": lambda t, x: t.fake_quantize_per_tensor_affine(x, 0.1, 0, 8, 7),
    "several scales": lambda t, x: t.fake_quantize_per_tensor_affine(
        x, t.tensor([0.1, 0.2]), t.tensor([1]), -8, 7
    ),
    "other zero points": lambda t, x: t.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2, 0.3]), t.tensor([0, 1], dtype=t.int32), 0, -8, 7
    ),
    "other rows": lambda t, x: t.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2, 0.3]), t.tensor([0, 1, 2], dtype=t.int32), 0, -8, 7
    ),
    "axis": lambda t, x: t.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2]), t.tensor([0, 1], dtype=t.int32), -2, -8, 7
    ),
    "dtype of the scales": lambda t, x: t.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2], dtype=t.float64), t.tensor([0, 1], dtype=t.int32), 0, -8, 7
    ),
}


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_are_those_of_pytorch(name: str, dtype: str) -> None:
    found = []
    for torch in (engine, pytest.importorskip("torch")):
        x = torch.tensor(VALUES, dtype=getattr(torch, dtype), requires_grad=True)
        out = CALLS[name](torch, x)
        (grad,) = torch.autograd.grad((out**2).sum(), x)
        found.append((out.tolist(), grad.tolist(), str(out.dtype)))
    assert found[0] == found[1]


@pytest.mark.torch
@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses_is_refused_alike(name: str) -> None:
    found = []
    for torch in (engine, pytest.importorskip("torch")):
        with pytest.raises(RuntimeError) as refused:
            REFUSED[name](torch, torch.tensor(VALUES))
        found.append(str(refused.value).splitlines()[0])
    assert found[0] == found[1]


def test_no_gradient_flows_where_the_rounded_value_is_out_of_range() -> None:
    x = engine.tensor(VALUES, requires_grad=True)
    engine.fake_quantize_per_tensor_affine(x, 0.1, 0, -8, 7).sum().backward()
    assert x.grad.tolist() == [[1, 0, 0], [0, 1, 1]]

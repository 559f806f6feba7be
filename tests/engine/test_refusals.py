"""What operations refuse, in PyTorch's words."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as torch

EXPRESSIONS = [
    "torch.tensor([True]) - torch.tensor([True])",
    "torch.tensor([True]) - True",
    "torch.tensor([True]) - 1",
    "1.5 - torch.tensor([True])",
    "torch.tensor([1.0]) - torch.tensor([True])",
    "torch.zeros(2).masked_fill(torch.tensor([1, 0]), 1)",
    "torch.zeros(2).masked_fill(torch.tensor([1.0, 0.0]), 1)",
]


def refusal(expression: str, library: Any) -> str:
    with pytest.raises(RuntimeError) as caught:
        eval(expression, {"torch": library})
    return str(caught.value)


@pytest.mark.torch
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_refusals_are_those_of_torch(expression: str) -> None:
    assert refusal(expression, torch) == refusal(expression, pytest.importorskip("torch"))

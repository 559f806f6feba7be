"""Tensors without data of their own compute with what they dequantize to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.collect.torch_alias.alias import answer_torch_imports
from gradtool.engine import _C
from gradtool.engine._placeholder import EngineLacksError
from gradtool.run.runner import check
from tests.options import check_options

HALVES = """
import torch


class Halves(torch.Tensor):
    @staticmethod
    def __new__(cls, codes, step):
        return torch.Tensor._make_wrapper_subclass(
            cls, codes.size(), strides=codes.stride(), dtype=step.dtype, device=codes.device
        )

    def __init__(self, codes, step):
        assert self.shape == codes.shape
        self.codes, self.step = codes, step

    def dequantize(self):
        return self.codes * self.step


class ToHalves(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, step):
        return Halves(torch.round(x / step).to(torch.int8), step)

    @staticmethod
    def backward(ctx, grad):
        return grad, None
"""


@pytest.fixture
def quantized() -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    with answer_torch_imports():
        exec(HALVES, namespace)
    return namespace


def test_operations_take_the_dequantized_values(quantized: dict[str, Any]) -> None:
    step = torch.tensor(0.5, dtype=torch.double)
    halves = quantized["Halves"](torch.tensor([1, -3]), step)
    assert (halves.dtype, halves.shape) == (torch.double, (2,))
    assert (halves + 1).tolist() == [1.5, -0.5]
    assert torch.sum(halves).item() == -1.0


def test_a_function_may_return_one(quantized: dict[str, Any]) -> None:
    x = torch.tensor([0.6, -1.4], dtype=torch.double, requires_grad=True)
    out = quantized["ToHalves"].apply(x, torch.tensor(0.5, dtype=torch.double))
    assert isinstance(out, quantized["Halves"])
    assert out.tolist() == [0.5, -1.5]
    (out * torch.tensor([2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 3.0]


def test_one_may_have_slots_and_no_constructor_but_new() -> None:
    class Scaled(torch.Tensor):
        __slots__ = ("factor", "whole")
        __torch_function__ = _C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, whole: Any, *, factor: float) -> Any:
            made = torch.Tensor._make_wrapper_subclass(cls, whole.shape, dtype=torch.double)
            made.whole, made.factor = whole, factor
            return made

        def dequantize(self) -> Any:
            return self.whole * self.factor

    product = Scaled(torch.tensor([1, 2]), factor=0.5) * 3
    assert type(product) is torch.Tensor
    assert product.tolist() == [1.5, 3.0]


def test_what_new_makes_of_a_subclass_is_not_made_again() -> None:
    class Named(torch.Tensor):
        @staticmethod
        def __new__(cls, data: Any, name: str, *, kind: str) -> Any:
            return torch.Tensor._make_subclass(cls, data)

    data = torch.tensor([1.0, 2.0], dtype=torch.double)
    named = Named(data, "a", kind="b")
    assert (named.dtype, named.tolist()) == (torch.double, [1.0, 2.0])
    with pytest.raises(TypeError, match="kind"):
        torch.Tensor(2, kind="b")


def test_one_without_dequantize_is_refused() -> None:
    class Opaque(torch.Tensor):
        pass

    with pytest.raises(EngineLacksError, match="_make_wrapper_subclass"):
        torch.Tensor._make_wrapper_subclass(Opaque, (2,))


def test_a_quantizer_gets_a_verdict(tmp_path: Path) -> None:
    (tmp_path / "halves.py").write_text(HALVES)
    (module,) = check(check_options(paths=(str(tmp_path / "halves.py"),), isolation=False)).modules
    (function,) = module.functions
    (case,) = function.cases
    found = {finding.rule for result in case.checks for finding in result.findings}
    assert found == {"GT106", "GT120"}  # The step gets no gradient.

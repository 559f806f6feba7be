"""Functions at a case, for the tests of the adapter."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtool.engine as torch
from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.engine.autograd import Function


def leaf(*values: float, dtype: Any = torch.float64) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def matrix(*shape: int, seed: int = 0) -> torch.Tensor:
    values = np.random.default_rng(seed).standard_normal(shape)
    return torch.tensor(values, requires_grad=True)


def at(function: Any, *args: Any, **kwargs: Any) -> FunctionDifferentiable:
    return FunctionDifferentiable(function, args, kwargs, name="it")


class Product(Function):
    """x * y, inputs saved as they should be."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class Linear(Function):
    """Matrix product with an optional bias, as in PyTorch's tutorial."""

    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight, bias)
        output = x.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, g):
        x, weight, bias = ctx.saved_tensors
        gradients = [g.mm(weight), g.t().mm(x), None]
        if bias is not None:
            gradients[2] = g.sum(0)
        return tuple(gradients)

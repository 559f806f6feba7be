"""Gradients of softmax by its output, which formulas of masked softmaxes call."""

from __future__ import annotations

from typing import Any

from gradtool.engine._tensor import Tensor


def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """Return the gradient of softmax."""
    weighted = (grad_output * output).sum(dim, keepdim=True)
    return (output * (grad_output - weighted)).to(input_dtype)


def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """Return the gradient of log_softmax."""
    total = grad_output.sum(dim, keepdim=True)
    return (grad_output - output.exp() * total).to(input_dtype)

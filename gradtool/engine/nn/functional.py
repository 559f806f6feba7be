"""The operations of the engine that torch has as functions of ``nn.functional`` too."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops import elementwise
from gradtool.engine._ops import softmax as _softmax
from gradtool.engine._ops.elementwise import sigmoid, tanh
from gradtool.engine._ops.linalg import matmul
from gradtool.engine._tensor import Tensor

__all__ = ["linear", "log_softmax", "relu", "relu_", "sigmoid", "softmax", "tanh"]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``.

    Args:
        input: Of shape (…, in_features).
        weight: Of shape (out_features, in_features) or (in_features,).
        bias: Of shape (out_features,) or ().
    """
    product = matmul(input, weight.t())
    return product if bias is None else product + bias


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The larger of each entry and 0; with `inplace`, written over `input`."""
    return relu_(input) if inplace else elementwise.relu(input)


def relu_(input: Tensor) -> Tensor:
    """`relu`, written over `input`."""
    changed: Tensor = input.relu_()
    return changed


def softmax(input: Tensor, dim: int, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """``exp(input)`` scaled to sum to 1 along `dim`, cast to `dtype` first."""
    weights: Tensor = _softmax.softmax(input, dim, dtype)
    return weights


def log_softmax(input: Tensor, dim: int, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of `softmax`."""
    logarithms: Tensor = _softmax.log_softmax(input, dim, dtype)
    return logarithms

"""Weights that sum to one along a dimension."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.core.dims import wrap_dim
from gradtool.engine._ops.core.dtype_support import REAL, takes
from gradtool.engine._ops.creation.distributions import exponential
from gradtool.engine._ops.elementwise.elementwise import log, sigmoid
from gradtool.engine._ops.reductions import softmax as _softmax
from gradtool.engine._tensor import Tensor


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """``exp(input)`` scaled to sum to 1 along `dim`, cast to `dtype` first."""
    return _softmax.softmax(input, _implied(input, dim), dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`softmax` of the negative."""
    return softmax(-input, dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """The logarithm of `softmax`."""
    return _softmax.log_softmax(input, _implied(input, dim), dtype)


def _implied(input: Tensor, dim: int | None) -> int:
    """The dimension that PyTorch takes where none is given."""
    if dim is not None:
        return dim
    return 0 if input.ndim in (0, 1, 3) else 1


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """`softmax` of the logits with Gumbel noise, over a temperature.

    With `hard`, one-hot in value and soft in gradient.
    """
    noise = -log(exponential(logits.shape, dtype=logits.dtype, device=logits.device))
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    dim = wrap_dim(dim, logits.ndim)
    chosen = soft.detach().argmax(dim, keepdim=True)
    one_hot = soft.new_zeros(soft.shape).scatter(dim, chosen, 1.0)
    return one_hot - soft.detach() + soft


@takes(REAL, "glu_cpu")
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dimension times the sigmoid of the second.

    Raises:
        RuntimeError: there are no two equal halves.
    """
    if input.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, input.ndim)
    if input.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}"
        )
    first, second = input.chunk(2, dim)
    return first * sigmoid(second)


__all__ = ["glu", "gumbel_softmax", "log_softmax", "softmax", "softmin"]

"""Helpers of distributions: shapes of parameters, and probabilities as log odds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine._dtypes import finfo, get_default_dtype
from gradtool.engine._ops.creation.literals import tensor
from gradtool.engine._ops.elementwise.elementwise import log, log1p, sigmoid
from gradtool.engine._ops.shape.expansion import broadcast_tensors
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import enable_grad
from gradtool.engine.nn.functional import softmax


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Return tensors of one shape; numbers take the dtype and device of the first tensor.

    Raises:
        ValueError: a value is neither a tensor nor a number.
    """
    if not all(isinstance(value, Tensor | int | float) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects "
            "implementing __torch_function__."
        )
    options: dict[str, Any] = {"dtype": get_default_dtype()}
    for value in values:
        if isinstance(value, Tensor):
            options = {"dtype": value.dtype, "device": value.device}
            break
    tensors = [v if isinstance(v, Tensor) else tensor(v, **options) for v in values]
    return tuple(broadcast_tensors(*tensors))


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Return the probabilities of log odds, or of logarithms along the last dimension."""
    return sigmoid(logits) if is_binary else softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Return probabilities that are neither 0 nor 1."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Return the log odds of probabilities, or their logarithms."""
    inside = clamp_probs(probs)
    return log(inside) - log1p(-inside) if is_binary else log(inside)


class lazy_property:
    """An attribute that is computed on first use, with gradients."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__name__ = wrapped.__name__
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.__name__, value)
        return value


__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits"]

"""Utilities for parameters: gradient clipping, flattening, normalization."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtool.engine._ops.shape.joining import cat, stack
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad
from gradtool.engine.nn.utils import parametrizations, parametrize, rnn, stateless
from gradtool.engine.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from gradtool.engine.nn.utils.weight_norm import remove_weight_norm, weight_norm


def _list(parameters: Any) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients down to a norm of at most `max_norm`; return their norm.

    Raises:
        RuntimeError: `error_if_nonfinite`, and the norm is infinite or NaN.
    """
    grads = [each.grad for each in _list(parameters) if each.grad is not None]
    if not grads:
        return Tensor([0.0]).sum()
    with no_grad():
        total = get_total_norm(grads, norm_type, error_if_nonfinite)
        scale = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for each in grads:
            each.mul_(scale)
    return total


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the norm of all elements of all tensors.

    Raises:
        RuntimeError: `error_if_nonfinite`, and the norm is infinite or NaN.
    """
    norms = [each.norm(norm_type) for each in _list(tensors)]
    total: Tensor = stack(norms).norm(norm_type) if norms else Tensor([0.0]).sum()
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is "
            "non-finite, so it cannot be clipped."
        )
    return total


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clamp every element of all gradients."""
    with no_grad():
        for each in _list(parameters):
            if each.grad is not None:
                each.grad.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate all elements in one dimension."""
    vector: Tensor = cat([each.reshape(-1) for each in parameters])
    return vector


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Write a vector back to the parameters: the inverse of `parameters_to_vector`."""
    start = 0
    for each in parameters:
        each.data = vec.narrow(0, start, each.numel()).reshape(each.shape).data
        start += each.numel()


__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "get_total_norm", "parameters_to_vector",
    "parametrizations", "parametrize", "remove_spectral_norm", "remove_weight_norm", "rnn",
    "spectral_norm", "stateless", "vector_to_parameters", "weight_norm",
]  # fmt: skip

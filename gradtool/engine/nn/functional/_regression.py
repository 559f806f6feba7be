"""Regression losses, and the reduction at the end of every loss."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dtype_support import FLOATS, REAL, SMOOTH, check_taken, takes
from gradtool.engine._ops.core.kinds import Product, elementwise
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._ops.core.stepwise import stepwise
from gradtool.engine._ops.elementwise.elementwise import exp, log
from gradtool.engine._ops.elementwise.gates import between
from gradtool.engine._ops.elementwise.powers import xlogy
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.shape.expansion import broadcast_tensors
from gradtool.engine._tensor import Tensor


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """Reduce to the mean or the sum of the entries, or leave them.

    Raises:
        ValueError: the reduction is unknown.
    """
    if reduction == "mean":
        return loss.mean()
    check_reduction(reduction)
    return loss if reduction == "none" else loss.sum()


def check_reduction(reduction: str) -> None:
    """Refuse an unknown reduction.

    Raises:
        ValueError: it is neither ``none``, ``mean`` nor ``sum``.
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def legacy(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """Translate the deprecated arguments, if given, to a reduction."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def paired(input: Tensor, target: Tensor) -> tuple[Tensor, ...]:
    """Broadcast input and target to one shape, with a warning if they differ."""
    if target.shape != input.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            UserWarning,
            stacklevel=3,
        )
    return broadcast_tensors(input, target)


@node_name(saving("MseLossBackward0", "input", "target"))
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared difference; with weights, of complex numbers too."""
    if weight is None:
        check_taken(input, REAL | {_dtypes.bool_}, "mse_cpu")
    difference = _difference(input, target)
    return _weighted(difference * difference, weight, legacy(reduction, size_average, reduce))


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Magnitude of the difference."""
    loss = _difference(input, target).abs()
    return _weighted(loss, weight, legacy(reduction, size_average, reduce))


def _difference(input: Tensor, target: Tensor) -> Tensor:
    input, target = paired(input, target)
    return input - target


def _weighted(loss: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    if weight is None:
        return reduced(loss, reduction)
    weighted = loss * weight
    if reduction == "mean":
        return weighted.sum() / weight.expand(loss.shape).sum()
    return reduced(weighted, reduction)


@stepwise
def _smoothed_size(x: Any, *, beta: float) -> Any:
    """The magnitude minus ``beta / 2``, and ``x**2 / (2 beta)`` below `beta`, without a branch."""
    size = np.abs(x)
    near = np.minimum(size, beta)
    out = near * -0.5
    out += size
    near /= beta
    return np.multiply(out, near, out=out)


@stepwise
def _clipped_share(x: Any, *, beta: float) -> Any:
    out = np.clip(x, -beta, beta)
    return np.divide(out, beta, out=out)


_share = elementwise(
    "smooth_l1_loss_backward",
    _clipped_share,
    Product(lambda g, x, beta: between(g / beta, x, low=-beta, high=beta)),
    arguments=("x",),
    dtypes=FLOATS,
)
_smoothed = elementwise(
    "smooth_l1_loss",
    _smoothed_size,
    Product(lambda g, x, beta: g * _share(x, beta=beta)),
    arguments=("x",),
    dtypes=FLOATS,
)


@node_name(saving("SmoothL1LossBackward0", "input", "target"))
@takes(REAL, "smooth_l1_cpu", fused=True)
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Magnitude of the difference minus ``beta / 2``, and a parabola below `beta`.

    Raises:
        RuntimeError: `beta` is negative.
    """
    reduction = legacy(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return reduced(_smoothed(_difference(input, target), beta=beta), reduction)


@node_name(saving("HuberLossBackward0", "input", "target"))
@takes(REAL, "huber_cpu", fused=True)
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """`smooth_l1_loss` times `delta`.

    Raises:
        RuntimeError: `delta` is not positive.
    """
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    difference = _difference(input, target)
    size = difference.abs()
    parabola = difference * difference * 0.5
    loss = where(size <= delta, parabola, (size - 0.5 * delta) * delta)
    return _weighted(loss, weight, reduction)


@takes(SMOOTH, "kl_div", fused=True)
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """``target * (log(target) - input)``; the input is a log-probability.

    The reduction ``batchmean``, the sum over the batch size, gives the divergence as defined.
    """
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    reduction = legacy(reduction, size_average, reduce)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size. 'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition. 'mean' will be changed to behave the same as 'batchmean' in the next "
            "major release.",
            UserWarning,
            stacklevel=2,
        )
    # `xlogy` is 0 for a target of 0, where `target * log(target)` is NaN.
    loss = exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / input.shape[0] if input.ndim else loss.sum()
    return reduced(loss, reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-probability of a Poisson count; `full` adds Stirling's term."""
    loss = exp(input) - target * input if log_input else input - target * log(input + eps)
    if full:
        # Filled before too: a zero cotangent times the infinite slope of log(0) is NaN.
        above = target.masked_fill(target <= 1, 1)
        stirling = above * log(above) - above + 0.5 * log(2 * math.pi * above)
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, legacy(reduction, size_average, reduce))


@takes(SMOOTH, "gaussian_nll_loss", fused=True)
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Negative logarithm of a normal density, with variances of at least `eps`.

    Raises:
        ValueError: the variances' shape does not fit, or one is negative.
    """
    spread = _variances(input, var)
    # The bound moves the value only: the gradient is that of the variance as it is.
    spread = spread + (spread.detach().clamp(min=eps) - spread.detach())
    difference = input - target
    loss = 0.5 * (log(spread) + difference * difference / spread)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _variances(input: Tensor, var: Tensor | float) -> Tensor:
    """Align variances, one for each entry or each row, with the input."""
    if not isinstance(var, Tensor):
        return input.new_full(input.shape, var)
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            return _variances(input, var.unsqueeze(-1))
        if input.shape[:-1] != var.shape[:-1] or var.shape[-1] != 1:
            raise ValueError("var is of incorrect size")
    if var._level is None and bool((var.detach() < 0).any()):
        raise ValueError("var has negative entry/entries")
    return var


__all__ = [
    "gaussian_nll_loss", "huber_loss", "kl_div", "l1_loss", "mse_loss", "poisson_nll_loss",
    "smooth_l1_loss",
]  # fmt: skip

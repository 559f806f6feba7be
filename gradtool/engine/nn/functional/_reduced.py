"""What every loss ends with: its mean, its sum, or the loss of each entry."""

from __future__ import annotations

import warnings

from gradtool.engine._ops.shape.expansion import broadcast_tensors
from gradtool.engine._tensor import Tensor


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The mean or the sum of the entries, or the entries.

    Raises:
        ValueError: there is no such reduction.
    """
    if reduction == "mean":
        return loss.mean()
    check_reduction(reduction)
    return loss if reduction == "none" else loss.sum()


def check_reduction(reduction: str) -> None:
    """Refuse a reduction that there is none of.

    Raises:
        ValueError: it is neither ``none``, ``mean`` nor ``sum``.
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def legacy(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """The reduction that the arguments of old stand for, where they are given."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def paired(input: Tensor, target: Tensor) -> tuple[Tensor, ...]:
    """Input and target in the shape that they broadcast to; a warning where they have to."""
    if target.shape != input.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            UserWarning,
            stacklevel=3,
        )
    return broadcast_tensors(input, target)

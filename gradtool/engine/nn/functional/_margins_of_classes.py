"""Losses that ask the scores of the right classes to lie above the others by a margin."""

from __future__ import annotations

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dtype_support import FLOATS, takes
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._reduced import legacy, reduced


@takes(FLOATS, "multi_margin_loss_cpu_kernel")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of what the right one lacks of the margin above each, to the p.

    Args:
        input: Scores of shape (C,) or (N, C).
        target: The right class, of shape () or (N,).
        p: 1 or 2.
        margin: How far the right class is to be above.
        weight: Of each class, as the right one.
        size_average: An old name for `reduction`.
        reduce: An old name for `reduction`.
        reduction: ``mean``, ``sum`` or ``none``.

    Raises:
        ValueError: `p` is neither 1 nor 2.
        RuntimeError: the shapes do not fit, or there is no such class.
    """
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    rows, classes = _rows(input), target.reshape(-1, 1)
    if classes.shape[0] != rows.shape[0]:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{rows.shape[0]}], but got "
            f"{list(target.shape)}. Input has shape {list(input.shape)}."
        )
    lacking = (margin - rows.gather(1, classes) + rows).clamp_min(0)
    if p == 2:
        lacking = lacking * lacking
    if weight is not None:
        lacking = lacking * weight.index_select(0, classes.reshape(-1)).unsqueeze(1)
    others = arange(rows.shape[1], device=rows.device) != classes
    loss = (lacking * others).mean(1)
    return reduced(_as_given(loss, input), legacy(reduction, size_average, reduce))


@takes(FLOATS, "multilabel_margin_loss_forward_out_frame")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """What each right class lacks of 1 above each wrong one, over the number of classes.

    Args:
        input: Scores of shape (C,) or (N, C).
        target: The right classes first, then -1, of the same shape.
        size_average: An old name for `reduction`.
        reduce: An old name for `reduction`.
        reduction: ``mean``, ``sum`` or ``none``.

    Raises:
        RuntimeError: the shapes do not fit, or there is no such class.
    """
    if target.shape != input.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    rows, classes = _rows(input), _rows(target)
    counted = (classes >= 0).to(_dtypes.int64).cumprod(1)
    classes = classes * counted
    right = classes.new_zeros(rows.shape).scatter_add(1, classes, counted) > 0
    above = rows.gather(1, classes).unsqueeze(2) - rows.unsqueeze(1)
    asked = (counted > 0).unsqueeze(2) & ~right.unsqueeze(1)
    loss = ((1 - above).clamp_min(0) * asked).sum((1, 2)) / rows.shape[1]
    return reduced(_as_given(loss, input), legacy(reduction, size_average, reduce))


def _rows(x: Tensor) -> Tensor:
    if x.ndim > 2:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(x.shape)}"
        )
    return x.reshape(1, -1) if x.ndim < 2 else x


def _as_given(loss: Tensor, input: Tensor) -> Tensor:
    """A number for a vector, one of each row for a matrix."""
    return loss.squeeze(0) if input.ndim < 2 else loss


__all__ = ["multi_margin_loss", "multilabel_margin_loss"]

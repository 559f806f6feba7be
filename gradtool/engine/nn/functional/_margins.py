"""Losses that require one score or distance to exceed another by a margin."""

from __future__ import annotations

from collections.abc import Callable

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.dtype_support import FLOATS, REAL, SMOOTH, takes
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._ops.creation.creation import arange, full_like, triu_indices
from gradtool.engine._ops.elementwise.elementwise import sqrt
from gradtool.engine._ops.elementwise.powers import logaddexp
from gradtool.engine._ops.elementwise.selection import minimum, where
from gradtool.engine._ops.linalg.contraction import row_distance
from gradtool.engine._ops.reductions.norm import norm
from gradtool.engine._ops.shape.expansion import broadcast_tensors
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._regression import legacy, reduced

_SLACK = 1e-12
"""Added to squared lengths in `cosine_embedding_loss`, as PyTorch does."""


@node_name("SumBackward1")
@takes(REAL, "cosine_similarity", fused=True)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Cosine of the angle between vectors along a dimension; lengths are at least `eps`."""
    x1, x2 = broadcast_tensors(x1, x2)
    first = x1 / norm(x1, 2, dim, keepdim=True).clamp_min(eps)
    second = x2 / norm(x2, 2, dim, keepdim=True).clamp_min(eps)
    return (first * second).sum(dim)


@node_name("NormBackward1")
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """p-norm of ``x1 - x2 + eps`` over the last dimension."""
    return norm(x1 - x2 + eps, p, -1, keepdim)


@node_name(saving("PdistBackward0", "input", "out"))
@takes(FLOATS, "pdist")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """p-norm of the difference of each pair of rows, in the order of the rows.

    Raises:
        RuntimeError: the input is not a matrix, or `p` is negative.
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows = input.shape[0]
    first, second = triu_indices(rows, rows, 1, device=input.device)
    return row_distance(input.index_select(0, first) - input.index_select(0, second), p)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The input for a target of 1, ``max(0, margin - input)`` for a target of -1."""
    lacking = (full_like(input, margin) - input).clamp_min(0)
    loss = where(target != 1, lacking, 0) + where(target != -1, input, 0)
    return reduced(loss, legacy(reduction, size_average, reduce))


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``."""
    loss = (-target * (input1 - input2) + margin).clamp_min(0)
    return reduced(loss, legacy(reduction, size_average, reduce))


@node_name(saving("SoftMarginLossBackward0", "input", "target"))
@takes(SMOOTH, "soft_margin_loss", fused=True)
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``log(1 + exp(-target * input))``."""
    return reduced(logaddexp(-target * input, 0.0), legacy(reduction, size_average, reduce))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)``, d the p-norm.

    With `swap`, the second distance is the smaller of those from anchor and from positive.
    """
    return triplet_margin_with_distance_loss(
        anchor,
        positive,
        negative,
        distance_function=lambda x, y: pairwise_distance(x, y, p, eps),
        margin=margin,
        swap=swap,
        reduction=legacy(reduction, size_average, reduce),
    )


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a given distance."""
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return reduced((near - far + margin).clamp_min(0), reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``1 - cosine`` for a target of 1, ``max(0, cosine - margin)`` for a target of -1."""
    lengths = [(each * each).sum(-1) + _SLACK for each in (input1, input2)]
    cosine = (input1 * input2).sum(-1) / sqrt(lengths[0] * lengths[1])
    alike, unlike = 1 - cosine, (cosine - margin).clamp_min(0)
    loss = where(target == 1, alike, 0) + where(target == -1, unlike, 0)
    return reduced(loss, legacy(reduction, size_average, reduce))


@node_name("MultiMarginLossBackward0")
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
    """Mean over the wrong classes of ``max(0, margin - right + wrong) ** p``.

    Args:
        input: Scores of shape (C,) or (N, C).
        target: The right class, of shape () or (N,).
        p: 1 or 2.
        margin: Required distance of the right class from the others.
        weight: Weight of each class where it is the right one.
        size_average: An old name for `reduction`.
        reduce: An old name for `reduction`.
        reduction: ``mean``, ``sum`` or ``none``.

    Raises:
        ValueError: `p` is neither 1 nor 2.
        RuntimeError: the shapes do not fit, or a target is not a class.
    """
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    rows, classes = _as_matrix(input), target.reshape(-1, 1)
    if classes.shape[0] != rows.shape[0]:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{rows.shape[0]}], but got "
            f"{list(target.shape)}. Input has shape {list(input.shape)}."
        )
    lacking = (margin - rows.gather(1, classes) + rows).relu()
    if p == 2:
        lacking = lacking * lacking
    if weight is not None:
        lacking = lacking * weight.index_select(0, classes.reshape(-1)).unsqueeze(1)
    others = arange(rows.shape[1], device=rows.device) != classes
    loss = (lacking * others).mean(1)
    return reduced(_like_input(loss, input), legacy(reduction, size_average, reduce))


@node_name("MultilabelMarginLossBackward0")
@takes(FLOATS, "multilabel_margin_loss_forward_out_frame")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Sum over right and wrong classes of ``max(0, 1 - right + wrong)`` over the class count.

    Args:
        input: Scores of shape (C,) or (N, C).
        target: The right classes first, then -1, of the same shape.
        size_average: An old name for `reduction`.
        reduce: An old name for `reduction`.
        reduction: ``mean``, ``sum`` or ``none``.

    Raises:
        RuntimeError: the shapes do not fit, or a target is not a class.
    """
    if target.shape != input.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    rows, classes = _as_matrix(input), _as_matrix(target)
    counted = (classes >= 0).to(_dtypes.int64).cumprod(1)
    classes = classes * counted
    right = classes.new_zeros(rows.shape).scatter_add(1, classes, counted) > 0
    above = rows.gather(1, classes).unsqueeze(2) - rows.unsqueeze(1)
    asked = (counted > 0).unsqueeze(2) & ~right.unsqueeze(1)
    loss = ((1 - above).relu() * asked).sum((1, 2)) / rows.shape[1]
    return reduced(_like_input(loss, input), legacy(reduction, size_average, reduce))


def _as_matrix(x: Tensor) -> Tensor:
    if x.ndim > 2:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(x.shape)}"
        )
    return x.reshape(1, -1) if x.ndim < 2 else x


def _like_input(loss: Tensor, input: Tensor) -> Tensor:
    """A number for a vector, one number per row for a matrix."""
    return loss.squeeze(0) if input.ndim < 2 else loss


__all__ = [
    "cosine_embedding_loss", "cosine_similarity", "hinge_embedding_loss", "margin_ranking_loss",
    "multi_margin_loss", "multilabel_margin_loss", "pairwise_distance", "pdist", "soft_margin_loss",
    "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip

"""Distances between rows, and losses that ask one to be larger than another by a margin."""

from __future__ import annotations

from collections.abc import Callable

from gradtool.engine._ops.core.dtype_support import FLOATS, REAL, SMOOTH, takes
from gradtool.engine._ops.creation.creation import full_like, triu_indices
from gradtool.engine._ops.elementwise.elementwise import sqrt
from gradtool.engine._ops.elementwise.powers import logaddexp
from gradtool.engine._ops.elementwise.selection import minimum, where
from gradtool.engine._ops.reductions.norm import norm
from gradtool.engine._ops.shape.expansion import broadcast_tensors
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._reduced import legacy, reduced

_SLACK = 1e-12
"""What PyTorch adds to squared lengths in `cosine_embedding_loss`."""


@takes(REAL, "cosine_similarity")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between rows along a dimension; lengths are at least `eps`."""
    x1, x2 = broadcast_tensors(x1, x2)
    first = x1 / norm(x1, 2, dim, keepdim=True).clamp_min(eps)
    second = x2 / norm(x2, 2, dim, keepdim=True).clamp_min(eps)
    return (first * second).sum(dim)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` over the last dimension."""
    return norm(x1 - x2 + eps, p, -1, keepdim)


@takes(FLOATS, "pdist")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm of the difference of each row and each later one, in the order of the rows.

    Raises:
        RuntimeError: the input is no matrix, or `p` is negative.
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows = input.shape[0]
    first, second = triu_indices(rows, rows, 1, device=input.device)
    return norm(input.index_select(0, first) - input.index_select(0, second), p, -1)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The input for a target of 1, what it lacks of the margin for one of -1."""
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
    """What the first lacks of being larger, by the margin, for a target of 1; smaller for -1."""
    loss = (-target * (input1 - input2) + margin).clamp_min(0)
    return reduced(loss, legacy(reduction, size_average, reduce))


@takes(SMOOTH, "soft_margin_loss")
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
    """What the negative lacks of being farther from the anchor than the positive is.

    With `swap`, the negative's distance is the smaller of those from anchor and positive.
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
    """`triplet_margin_loss` by a distance of one's own."""
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
    """One less the cosine for a target of 1, what it has above the margin for one of -1."""
    lengths = [(each * each).sum(-1) + _SLACK for each in (input1, input2)]
    cosine = (input1 * input2).sum(-1) / sqrt(lengths[0] * lengths[1])
    alike, unlike = 1 - cosine, (cosine - margin).clamp_min(0)
    loss = where(target == 1, alike, 0) + where(target == -1, unlike, 0)
    return reduced(loss, legacy(reduction, size_average, reduce))


__all__ = [
    "cosine_embedding_loss", "cosine_similarity", "hinge_embedding_loss", "margin_ranking_loss",
    "pairwise_distance", "pdist", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip

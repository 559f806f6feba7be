"""Losses between scores and the right class, or the probabilities of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.device.differences import zeros_like
from gradtool.engine import _dtypes
from gradtool.engine._levels import BatchLevel
from gradtool.engine._ops.core.batching import together_along_dim
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import FLOATS, REAL, TYPE_NAMES, refuse, takes
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.inplace import check_cast
from gradtool.engine._ops.core.kinds import Product, binary, linear
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.elementwise.elementwise import log, log1p
from gradtool.engine._ops.elementwise.powers import logaddexp
from gradtool.engine._ops.indexing.gathering import (
    picked_along,
    picked_by_user,
    picked_places,
    picking,
)
from gradtool.engine._ops.reductions.reduction import added_up, largest_of
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._activations import log_softmax
from gradtool.engine.nn.functional._regression import check_reduction, legacy, reduced

# ---- one class of several -------------------------------------------------------------------


def _nll_node(input: Any, target: Any, *args: Any, **params: Any) -> str:
    if input.ndim == 3 or input.ndim > 4:
        reduction = args[4] if len(args) > 4 else params.get("reduction", "mean")
        return "ViewBackward0" if reduction == "none" else "NllLoss2DBackward0"
    return "NllLoss2DBackward0" if input.ndim == 4 else "NllLossBackward0"


@node_name(saving(_nll_node, "input", "target", "weight"))
@takes(REAL, "nll_loss_out_frame", fused=True)
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative of the entry of each right class.

    Args:
        input: Log-probabilities, of shape (C,), (N, C) or (N, C, …).
        target: Classes, of shape (), (N,) or (N, …).
        weight: Of each class. The mean is over the weights.
        size_average: An old name for `reduction`.
        ignore_index: A target that is left out.
        reduce: An old name for `reduction`.
        reduction: ``mean``, ``sum`` or ``none``.

    Raises:
        RuntimeError, ValueError: the shapes do not fit.
        IndexError: a target is not a class.
    """
    reduction = legacy(reduction, size_average, reduce)
    check_reduction(reduction)
    if weight is None and _all_count(input, target, ignore_index):
        return _plain_loss(input, target, reduction)
    picked, counted = _pick_targets(input, target, weight, ignore_index)
    if reduction == "none":
        return -picked
    return -picked.sum() / counted.sum() if reduction == "mean" else -picked.sum()


def _plain_loss(input: Tensor, target: Tensor, reduction: str) -> Tensor:
    """`nll_loss` without weights, of targets that are all classes and count."""
    dim = _check_targets(input, target, None)
    if reduction == "none":
        return -_entries(_picked, input, target, dim)
    count = target._array.size if reduction == "mean" else 1
    return _total_loss(input, target, dim=dim, count=count)


_picked = picking("nll_loss", picked_by_user, dtypes=FLOATS)


def _all_count(input: Tensor, target: Tensor, ignore_index: int) -> bool:
    """Return True for targets that are classes, and none of which is left out."""
    shape, classes = input._array.shape, target._array
    if target._level is not None or classes.dtype != np.int64 or not classes.size or not shape:
        return False
    # As unsigned numbers, negative ones are large.
    if largest_of(classes.view(np.uint64), None) >= shape[0 if len(shape) == 1 else 1]:
        return False
    return ignore_index < 0 or bool((classes != ignore_index).all())


def _loss_of_entries(x: Any, index: Any, *, dim: int, count: int) -> Any:
    return -added_up(picked_along(x, index, dim=dim), None) / count


def _loss_spread(g: Tensor, index: Tensor, x_shape: Ints, dim: int, count: int) -> Tensor:
    """The same gradient for the entry of each right class, and zeros."""
    each = (g / -count).expand(index.shape)
    spread_out: Tensor = _picked.vjps[0].apply(each, x_shape, index, dim)
    return spread_out


def _loss_spread_out(g: Any, index: Any, shape: Ints, dim: int, count: int) -> Any:
    out = zeros_like(g, shape)
    out.reshape(-1)[picked_places(index, dim, shape)] = g / -count
    return out


def _loss_of_examples(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    picked = together_along_dim(level, _picked, args, {"dim": params["dim"]})
    losses: Tensor = -picked.reshape(level.size, args[1].numel()).sum(1) / params["count"]
    return losses


_total_loss = linear(
    "nll_loss",
    _loss_of_entries,
    _loss_spread,
    of_arrays=_loss_spread_out,
    dtypes=FLOATS,
    batch=_loss_of_examples,
)


def _entries(
    primitive: Primitive, input: Tensor, target: Tensor, dim: int, **params: Any
) -> Tensor:
    """Apply a primitive to the entries of the right classes.

    Raises:
        IndexError: a target is not a class.
    """
    try:
        return primitive(input, target, dim=dim, **params)
    except RuntimeError as error:
        if "out of bounds" not in str(error):
            raise
        found = next(
            each for each in target.reshape(-1).tolist() if not 0 <= each < input.shape[dim]
        )
        raise IndexError(f"Target {found} is out of bounds.") from None


def _pick_targets(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Weighted entries of the right classes, and their weights: zero for ignored ones."""
    dim = _check_targets(input, target, weight)
    ignored = target == ignore_index
    # The index to ignore, by default -100, need not be a position.
    safe = target.masked_fill(ignored, 0)
    if safe.dtype is not _dtypes.int64 or not safe.numel():
        entries = input.gather(dim, safe.unsqueeze(dim)).squeeze(dim)
    else:
        entries = _entries(_picked, input, safe, dim)
    counted = (~ignored).to(input.dtype)
    if weight is not None:
        counted = counted * weight.index_select(0, safe.reshape(-1)).reshape(safe.shape)
    # Filled as well as multiplied: an entry of -inf times zero is NaN.
    return (entries * counted).masked_fill(ignored, 0), counted


def _check_targets(input: Tensor, target: Tensor, weight: Tensor | None) -> int:
    """The dimension of the classes."""
    shape, given = input._array.shape, target._array.shape
    dim = 0 if len(shape) == 1 else 1
    if not shape:
        raise RuntimeError("input tensor should be 1D or 2D")
    if len(shape) > 1 and given and shape[0] != given[0]:
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size ({given[0]})."
        )
    wanted = (*shape[:dim], *shape[dim + 1 :])
    if given != wanted:
        raise RuntimeError(f"Expected target size {list(wanted)}, got {list(given)}")
    if weight is not None and weight.dtype is not input.dtype:
        raise RuntimeError(
            f"expected scalar type {TYPE_NAMES[input.dtype.name]} but found "
            f"{TYPE_NAMES[weight.dtype.name]}"
        )
    if weight is not None and tuple(weight.shape) != (shape[dim],):
        raise RuntimeError(
            "weight tensor should be defined either for all "
            f"{shape[dim]} classes or no classes but got weight tensor of shape: "
            f"{list(weight.shape)}"
        )
    return dim


def _cross_entropy_node(input: Any, target: Any, *args: Any, **params: Any) -> str:
    smoothing = args[5] if len(args) > 5 else params.get("label_smoothing", 0.0)
    if target.is_floating_point():
        reduction = args[4] if len(args) > 4 else params.get("reduction", "mean")
        return "DivBackward1" if reduction == "mean" else "NegBackward0"
    return "AddBackward0" if smoothing > 0 else _nll_node(input, target, *args, **params)


@node_name(_cross_entropy_node)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of the `log_softmax` of scores.

    The target may also be the probabilities of all classes, of the input's shape.
    `label_smoothing` is the share of each probability that is spread over all classes. Other
    arguments are those of `nll_loss`.

    Raises:
        RuntimeError: the smoothing is not in [0, 1], or probabilities are not floating.
    """
    reduction = legacy(reduction, size_average, reduce)
    check_reduction(reduction)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    scores = log_softmax(input, 0 if input._array.ndim == 1 else 1)
    if target._array.shape == input._array.shape:
        return _cross_entropy_of_probabilities(scores, target, weight, reduction, label_smoothing)
    is_plain = label_smoothing == 0 and weight is None and scores._array.itemsize > 2
    if is_plain and _all_count(scores, target, ignore_index):
        return _plain_loss(scores, target, reduction)
    if label_smoothing == 0:
        return nll_loss(scores, target, weight, None, ignore_index, None, reduction)
    return _smooth(scores, target, weight, ignore_index, reduction, label_smoothing)


def _along_classes(weight: Tensor | None, scores: Tensor) -> Any:
    """Weights of the classes, aligned with the scores; 1 if there are none."""
    if weight is None:
        return 1.0
    return weight if scores.ndim == 1 else weight.reshape(-1, *[1] * (scores.ndim - 2))


def _cross_entropy_of_probabilities(
    scores: Tensor, probabilities: Tensor, weight: Tensor | None, reduction: str, smoothing: float
) -> Tensor:
    if not probabilities.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{probabilities.dtype}"
        )
    dim = 0 if scores.ndim == 1 else 1
    classes = scores.shape[dim]
    if smoothing > 0:
        probabilities = probabilities * (1 - smoothing) + smoothing / classes
    loss: Tensor = -(scores * probabilities * _along_classes(weight, scores))
    if reduction == "none":
        return loss.sum(dim)
    # With probabilities, torch's mean is over the samples and not over the weights.
    return loss.sum() / (scores.numel() / classes) if reduction == "mean" else loss.sum()


def _smooth(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    smoothing: float,
) -> Tensor:
    dim = 0 if scores.ndim == 1 else 1
    picked, counted = _pick_targets(scores, target, weight, ignore_index)
    shared = (scores * _along_classes(weight, scores)).sum(dim)
    shared = shared.masked_fill(target == ignore_index, 0)
    loss: Tensor = -(picked * (1 - smoothing) + shared * (smoothing / scores.shape[dim]))
    if reduction == "none":
        return loss
    return loss.sum() / counted.sum() if reduction == "mean" else loss.sum()


# ---- yes or no ------------------------------------------------------------------------------

_LOWEST = -100.0
"""Lower bound of log-probabilities, which keeps a certain mistake finite."""


def _entropy(x: Any, y: Any) -> Any:
    refuse("biuc", "binary_cross_entropy", x)
    # `log1p` keeps the digits of a small x that 1 - x loses.
    yes, no = np.maximum(np.log(x), _LOWEST), np.maximum(np.log1p(-x), _LOWEST)
    return (y - 1) * no - y * yes


_cross_entropy = binary(
    "binary_cross_entropy",
    ignore_fp_warnings(_entropy),
    (
        # The bound is torch's: the gradient stays finite at 0 and 1.
        Product(lambda g, x, y: g * (x - y) / ((1 - x) * x).clamp(min=1e-12)),
        Product(lambda g, x: g * (log1p(-x) - log(x))),
    ),
    dtypes=REAL,
)


@node_name(saving("BinaryCrossEntropyBackward0", "input", "target"))
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``-target * log(input) - (1 - target) * log(1 - input)``, logarithms at least -100.

    Raises:
        ValueError: input and target differ in shape.
        RuntimeError: an input is not in [0, 1].
    """
    reduction = legacy(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    if input._level is None and not bool(((input.detach() >= 0) & (input.detach() <= 1)).all()):
        raise RuntimeError("all elements of input should be between 0 and 1")
    loss = _cross_entropy(input, target)
    return reduced(loss if weight is None else loss * weight, reduction)


@node_name(saving("BinaryCrossEntropyWithLogitsBackward0", "input", "target"))
@takes(REAL, "log_sigmoid_cpu", fused=True)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of the sigmoid, without its rounding.

    `pos_weight` is the weight of positive targets.

    Raises:
        ValueError: input and target differ in shape.
        RuntimeError: the target has integers.
    """
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    check_cast(input, target)
    of_ones: Any = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    loss = _of_scores(input, target, of_ones)
    loss = loss if weight is None else loss * weight
    # The loss has the dtype of the target, even if the input or a weight is wider.
    loss = loss.to(target.dtype)
    return reduced(loss, legacy(reduction, size_average, reduce))


def _of_scores(input: Tensor, target: Tensor, of_ones: Any = 1) -> Tensor:
    # `log(1 + exp(-input))` would overflow for very negative scores.
    loss: Tensor = (1 - target) * input + of_ones * logaddexp(-input, 0.0)
    return loss


@takes(REAL, "log_sigmoid_cpu", fused=True)
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over the classes of `binary_cross_entropy_with_logits`."""
    loss = _of_scores(input, target)
    loss = loss if weight is None else loss * weight
    loss = loss.sum(input.ndim - 1) / input.size(-1)  # Of the input, if the target has more.
    return reduced(loss, legacy(reduction, size_average, reduce))


__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy",
    "multilabel_soft_margin_loss", "nll_loss",
]  # fmt: skip

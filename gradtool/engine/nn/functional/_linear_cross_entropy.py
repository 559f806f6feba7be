"""The cross entropy of a linear layer's scores."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._classification import cross_entropy
from gradtool.engine.nn.functional._linear import linear


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    Args:
        input: Of shape (features,) or (N, features).
        linear_weight: Of shape (classes, …, features).
        target: As for `cross_entropy` of scores (N, classes, …).
        linear_bias: Of shape (classes, …).
        weight: As for `cross_entropy`, like `reduction` and `label_smoothing`.
        reduction: ``mean``, ``sum`` or ``none``.
        ignore_index: A class that does not count, by default -100.
        label_smoothing: Share of the uniform distribution in the target.
        options: Ignored: PyTorch's concern the memory that it takes, not the result.

    Raises:
        RuntimeError: the shapes do not fit, or the targets are probabilities and a class is
            ignored.
    """
    shape = _scores_shape(input, linear_weight, linear_bias)
    if tuple(target.shape) == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    rows = math.prod(linear_weight.shape[:-1])
    flat = linear_weight.reshape(rows, linear_weight.shape[-1])
    shift = None if linear_bias is None else linear_bias.reshape(rows)
    return cross_entropy(
        linear(input, flat, shift).reshape(shape), target, weight=weight, reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )  # fmt: skip


def _scores_shape(input: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[int, ...]:
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {weight.ndim}"
        )
    features = input.shape[-1]
    if features != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{features} and {weight.shape[-1]}, respectively"
        )
    rows = tuple(weight.shape[:-1])
    if bias is not None and tuple(bias.shape) != rows:
        raise RuntimeError(f"expected linear_bias shape {rows}, got {tuple(bias.shape)}")
    if len(rows) > 1 and input.ndim == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires "
            f"batched input, (N, {features}), got unbatched input with shape {tuple(input.shape)}"
        )
    return (*input.shape[:-1], *rows)


__all__ = ["linear_cross_entropy"]

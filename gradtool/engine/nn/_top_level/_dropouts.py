"""Dropouts with a flag for training, and their forms in place."""

from __future__ import annotations

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._ops.creation.random import bernoulli
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional import _dropout as functional


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.dropout`."""
    return functional.dropout(input, p, train)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`dropout` in place."""
    return functional.dropout(input, p, train, inplace=True)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Drop whole channels of (N, C, …)."""
    return functional.drop_features(input, p, train)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_dropout` in place."""
    return functional.drop_features(input, p, train, inplace=True)


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.alpha_dropout`."""
    return functional.alpha_dropout(input, p, train)


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` in place."""
    return functional.alpha_dropout(input, p, train, inplace=True)


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.feature_alpha_dropout`."""
    return functional.feature_alpha_dropout(input, p, train)


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_alpha_dropout` in place."""
    return functional.feature_alpha_dropout(input, p, train, inplace=True)


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Drop entries; return the result and the mask of those that are kept."""
    blank = empty(input.shape, dtype=_dtypes.bool_, device=input.device)
    if train is False:
        return input.clone(), blank.fill_(True)
    kept = bernoulli(blank, 1 - p)
    return input * kept * (0.0 if p == 1 else 1 / (1 - p)), kept


def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    """Return the gradient of `native_dropout`."""
    return grad_output * mask * scale

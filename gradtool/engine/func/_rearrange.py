"""Axes reordered, split, merged and stacked by a pattern, as einops writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from gradtool.engine._tensor import Tensor

_TOKEN = re.compile(r"\.\.\.|[A-Za-z_]\w*|1|[()]")

Axes = list[list[str]]
"""One entry for each dimension: the names of the axes that it is made of."""


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """The elements of a tensor in the order that a pattern names.

    ``rearrange(x, "b (h w) c -> b c h w", h=8)`` splits a dimension and moves another. A
    sequence of tensors is stacked along a first dimension, which the pattern names too.

    Raises:
        ValueError: the pattern does not fit the tensor, or its sides do not name the same axes.
    """
    from gradtool.engine._ops.shape.joining import stack

    x: Any = tensor if isinstance(tensor, Tensor) else stack(list(tensor))
    left, right = _sides(pattern)
    left = _spelled_out(left, x.dim(), pattern)
    dots = [name for group in left for name in group if name.startswith("...")]
    right = _with_dots(right, dots)
    lengths = _lengths(left, x.shape, axes_lengths, pattern)
    names = [name for group in left for name in group]
    wanted = [name for group in right for name in group]
    # Sorted lists, not sets: a name that occurs twice is wrong too.
    if sorted(names) != sorted(wanted):
        raise ValueError(f"both sides of '{pattern}' must name the same axes, once each")
    split = x.reshape([lengths[name] for name in names])
    moved = split.permute([names.index(name) for name in wanted])
    merged: Tensor = moved.reshape([_product(lengths[name] for name in group) for group in right])
    return merged


def _sides(pattern: str) -> tuple[Axes, Axes]:
    parts = pattern.split("->")
    if len(parts) != 2 or _TOKEN.sub("", pattern.replace("->", "")).strip():
        raise ValueError(f"'{pattern}' is not a pattern such as 'a (b c) -> c a b'")
    return _parsed(parts[0], pattern), _parsed(parts[1], pattern)


def _parsed(side: str, pattern: str) -> Axes:
    axes: Axes = []
    inside: list[str] | None = None
    for token in _TOKEN.findall(side):
        if token == "(":
            inside = []
        elif token == ")":
            if inside is None:
                raise ValueError(f"brackets in '{pattern}' do not match")
            axes.append(inside)
            inside = None
        elif token == "1":
            # A 1 within brackets changes nothing; on its own it is a dimension of no axis.
            if inside is None:
                axes.append([])
        elif inside is not None:
            inside.append(token)
        else:
            axes.append([token])
    if inside is not None:
        raise ValueError(f"brackets in '{pattern}' do not match")
    return axes


def _spelled_out(axes: Axes, ndim: int, pattern: str) -> Axes:
    """The axes with names of their own for the dimensions that the dots stand for."""
    extra = ndim - sum(group != ["..."] for group in axes)
    if extra < 0 or (extra and ["..."] not in axes):
        raise ValueError(f"'{pattern}' does not fit a tensor of {ndim} dimensions")
    dots = [f"...{number}" for number in range(extra)]
    return _with_dots(axes, dots)


def _with_dots(axes: Axes, dots: list[str]) -> Axes:
    result: Axes = []
    for group in axes:
        if group == ["..."]:
            result.extend([name] for name in dots)
        else:
            result.append([each for name in group for each in (dots if name == "..." else [name])])
    return result


def _lengths(
    axes: Axes, shape: Sequence[int], given: dict[str, int], pattern: str
) -> dict[str, int]:
    lengths = dict(given)
    for group, extent in zip(axes, shape):
        unknown = [name for name in group if name not in lengths]
        known = _product(lengths[name] for name in group if name in lengths)
        if len(unknown) > 1:
            raise ValueError(f"the lengths of {unknown} in '{pattern}' cannot be inferred")
        if unknown:
            lengths[unknown[0]] = extent // known if known else 0
        if _product(lengths[name] for name in group) != extent:
            raise ValueError(f"'{pattern}' does not fit a dimension of extent {extent}")
    return lengths


def _product(values: Any) -> int:
    result = 1
    for value in values:
        result *= value
    return result

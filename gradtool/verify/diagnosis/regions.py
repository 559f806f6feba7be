"""Parts of an array that a mask, a branch or a loop may treat differently from the rest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import msgspec
import numpy as np

from gradtool.verify.comparison.derivatives import Comparison, Derivatives
from gradtool.verify.protocol.coordinates import BoolArray, is_continuous
from gradtool.verify.protocol.observation import Array
from gradtool.verify.thresholds.diagnosis import REGION_LEAST_CHOICES, REGION_LEAST_SHARE

_BRANCH = "forget a mask or branch"
_LEFT_OUT = "leave out a part"


class Region(msgspec.Struct, frozen=True):
    """Some entries of an array.

    `words` say where they are, after "right" or "wrong"; `mistake` what may be the matter when
    only they are wrong, or only they are right.
    """

    words: str
    mask: BoolArray
    mistake: str


def regions_of_argument(derivatives: Derivatives, comparison: Comparison) -> Iterator[Region]:
    """Yield parts of an argument that code may treat differently, by value or by place."""
    own = derivatives.primals[comparison.argument]
    arguments = derivatives.function.arguments
    name = f"`{arguments[comparison.argument].name}`"
    if own.dtype.kind == "f":
        yield from _by_value(own, name)
    for argument, other in zip(arguments, derivatives.primals, strict=True):
        if argument.name != arguments[comparison.argument].name:
            yield from _by_other(own, name, other, f"`{argument.name}`")
    by_size = [*_beyond(own, name), *_extremes(own, name)] if own.dtype.kind == "f" else []
    by_place = [*slices(own.shape), *_triangles(own.shape)]
    # A slice of a vector is one entry, which is the largest or smallest as often by chance.
    yield from by_size + by_place if own.ndim == 1 else by_place + by_size


def slices(shape: tuple[int, ...]) -> Iterator[Region]:
    """The first, the last and each other slice along each dim."""
    for dim, length in enumerate(shape):
        for index in range(length) if length > 1 else ():
            words = {0: "the first slice", length - 1: "the last slice"}.get(index)
            mask = np.zeros(shape, dtype=bool)
            np.moveaxis(mask, dim, 0)[index] = True
            words = words or f"slice {index}"
            yield Region(f"in {words} along dim {dim}", mask, _LEFT_OUT)


def _by_value(own: Array, name: str) -> Iterator[Region]:
    yield Region(f"where {name} > 0", own > 0, _BRANCH)
    yield Region(f"where {name} < 0", own < 0, _BRANCH)


def _by_other(own: Array, name: str, other: Array, others: str) -> Iterator[Region]:
    """By a mask, or by which of two is the larger."""
    try:
        other = np.broadcast_to(other, own.shape)
    except ValueError:
        return
    if other.dtype.kind == "b":
        yield Region(f"where {others} is True", other, _BRANCH)
    elif (
        other.ndim and is_continuous(other.dtype) and "c" not in (own.dtype.kind, other.dtype.kind)
    ):
        yield Region(f"where {name} > {others}", own > other, _BRANCH)
        yield Region(f"where {name} < {others}", own < other, _BRANCH)


def _triangles(shape: tuple[int, ...]) -> Iterator[Region]:
    if len(shape) < 2:
        return
    everywhere = np.ones(shape, dtype=bool)
    yield Region("on the diagonal", np.triu(np.tril(everywhere)), _BRANCH)
    yield Region("above the diagonal", np.triu(everywhere, 1), _BRANCH)
    yield Region("below the diagonal", np.tril(everywhere, -1), _BRANCH)


def _extremes(own: Array, name: str) -> Iterator[Region]:
    for dim, extent in enumerate(own.shape):
        if extent ** (own.size // max(extent, 1)) < REGION_LEAST_CHOICES:
            continue
        for words, extreme in (
            ("largest", own.max(dim, keepdims=True, initial=-np.inf)),
            ("smallest", own.min(dim, keepdims=True, initial=np.inf)),
        ):
            yield Region(f"where {name} is the {words} along dim {dim}", own == extreme, _BRANCH)


def _beyond(own: Array, name: str) -> Iterator[Region]:
    """Yield the entries above a threshold, in value or in size, one for each gap between values."""
    for words, size in ((name, own), (f"|{name}|", np.abs(own))):
        values = np.unique(size[np.isfinite(size)])
        for low, high in itertools.pairwise(values):
            threshold = (low + high) / 2
            beyond = int((size > threshold).sum())
            if min(beyond, size.size - beyond) < REGION_LEAST_SHARE * size.size:
                continue  # A few entries beyond all others are right, or wrong, by chance.
            if math.comb(size.size, beyond) < REGION_LEAST_CHOICES:
                continue
            yield Region(f"where {words} > {threshold:.3g}", size > threshold, _BRANCH)

"""Batches that the rules on batching try: the number of examples, and their dimensions.

A batch as long as one of the extents hides a missing dimension, since shapes that should not fit
do; one of another length shows it by raising, or hides one that is broadcast.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array
from gradtool.verify.randomness import generator, shifted
from gradtool.verify.rules._placings import InDims, covering_placings, simple_placings
from gradtool.verify.thresholds.rules import (
    BATCH_LENGTHS,
    BATCH_LONGEST_EXTENT,
    BATCH_LONGEST_MIXED,
    BATCH_MOST_MIXED,
    EXAMPLE_SHIFT,
)

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


class Batch(msgspec.Struct, frozen=True):
    """Some points near the case's own, and how they are batched."""

    in_dims: InDims
    examples: tuple[tuple[Array, ...], ...]
    """The primals of each example; the same array in all of them where they share it."""

    @property
    def stacked(self) -> list[Array]:
        """The primals of all, examples along the dimensions of `in_dims`."""
        columns = zip(zip(*self.examples, strict=True), self.in_dims, strict=True)
        return [each[0] if dim is None else np.stack(each, axis=dim) for each, dim in columns]


def batchable(subject: Subject) -> list[int]:
    """Positions of the arguments that can differ between examples."""
    return [i for i, a in enumerate(subject.function.arguments) if is_continuous(a.dtype)]


def batches(subject: Subject) -> Iterator[Batch]:
    """Every two arguments along the first dimension, the last and none, in a few lengths.

    A derived rule moves dimensions by itself, so that mixing them would test gradtool's engine.
    """
    arguments, chosen = subject.function.arguments, batchable(subject)
    ranks = [len(a.shape) if i in chosen else None for i, a in enumerate(arguments)]
    choose = simple_placings if subject.function.generates_vmap else covering_placings
    placings = list(choose(ranks))
    extents = _extents(subject)
    usual = next((length for length in BATCH_LENGTHS if length not in extents), BATCH_LENGTHS[0])
    for in_dims in placings:
        yield _batch(subject, in_dims, usual)
    for length in extents:
        for in_dims in _along_extents(placings, ranks, length):
            yield _batch(subject, in_dims, length)


def _along_extents(
    placings: Sequence[InDims], ranks: Sequence[int | None], length: int
) -> list[InDims]:
    """The placings of all arguments for a batch as long as one of the extents."""
    if length > BATCH_LONGEST_MIXED:
        return [placings[0]]
    left_out = ranks.count(None)
    return [each for each in placings if each.count(None) == left_out][:BATCH_MOST_MIXED]


def _extents(subject: Subject) -> list[int]:
    """The first and last extents of what is batched, without repetition."""
    shapes = [subject.function.arguments[i].shape for i in batchable(subject)]
    ends = [extent for shape in shapes if shape for extent in (shape[-1], shape[0])]
    return [extent for extent in dict.fromkeys(ends) if 1 < extent <= BATCH_LONGEST_EXTENT]


def _batch(subject: Subject, in_dims: InDims, length: int) -> Batch:
    rng = generator(subject.seed, "examples")
    own = subject.function.primals
    points = [own, *(shifted(own, EXAMPLE_SHIFT, rng) for _ in range(length - 1))]
    return Batch(
        in_dims,
        tuple(
            tuple(own[i] if dim is None else point[i] for i, dim in enumerate(in_dims))
            for point in points
        ),
    )

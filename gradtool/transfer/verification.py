"""The bytes of a sample: sources filled and targets spoiled before it, compared after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradtool.transfer.byte_check import blocks, pattern, spoiled
from gradtool.transfer.machine import Buffer, Machine
from gradtool.transfer.operation import Pair, Slot

_MOST_PAIRS = 8
"""Pairs of a slot that are looked at where not all are."""


class ByteCheck:
    """Checks slots of one operation, never within the timing."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._sample = 0

    def prepare(self, slots: Sequence[Slot], *, whole: bool) -> None:
        """Fill the sources with bytes of their own, spoil the targets."""
        self._sample += 1
        for number, pair in _chosen(slots, whole):
            size = len(pair.source)
            for start, stop in blocks(size, whole=whole):
                self._put(pair.source, start, stop, pattern(start, stop, self._key(number)))
                if pair.spoil:
                    self._put(pair.target(), start, stop, spoiled(stop - start))
        self._machine.synchronize()

    def arrived(self, slots: Sequence[Slot], *, whole: bool) -> bool:
        """Whether the targets hold what the sources did."""
        return all(
            np.array_equal(
                self._get(pair.target(), start, stop), pattern(start, stop, self._key(number))
            )
            for number, pair in _chosen(slots, whole)
            for start, stop in blocks(len(pair.source), whole=whole)
        )

    def _key(self, pair: int) -> int:
        return self._sample * 65537 + pair

    def _put(self, buffer: Buffer, start: int, stop: int, data: Any) -> None:
        if isinstance(buffer, np.ndarray):
            buffer[start:stop] = data
        else:
            self._machine.write(buffer[start:stop], data)

    def _get(self, buffer: Buffer, start: int, stop: int) -> Any:
        part = buffer[start:stop]
        return part if isinstance(part, np.ndarray) else self._machine.read(part)


def _chosen(slots: Sequence[Slot], whole: bool) -> Iterator[tuple[int, Pair]]:
    """The pairs to look at, numbered; of many a few, of which one is the first, one the last."""
    pairs = [pair for slot in slots for pair in slot.pairs]
    step = 1 if whole else max(1, -(-len(pairs) // _MOST_PAIRS))
    chosen = range(0, len(pairs), step)
    yield from ((number, pairs[number]) for number in chosen)
    if pairs and chosen[-1] != len(pairs) - 1:
        yield len(pairs) - 1, pairs[-1]

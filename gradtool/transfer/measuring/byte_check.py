"""Check that the bytes arrived: a pattern unique to each sample, over a target that was spoiled.

A source is filled by blocks: a fixed scramble of the word's place, exclusive-or a key of block
and sample. So a byte that was not copied, copied from elsewhere, or left from another sample
differs. Large buffers are checked whole in the first and last sample, in spots in the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradtool.transfer.machines.machine import Buffer, Machine
from gradtool.transfer.measuring.operation import Pair, Slot

_WORDS = 1 << 18
_BLOCK = _WORDS * 4
_SPOTS = 5
_SPOT = 4096

POISON = 0xA5
"""Value of a target's bytes before a copy."""

# Knuth's multiplier, 2**32 over the golden ratio, sets neighbouring words far apart.
_SCRAMBLE = np.arange(_WORDS, dtype=np.uint32) * np.uint32(2654435761)


def blocks(size: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Ranges of bytes to check: all of them, or a few with one at each end."""
    if whole or size <= _SPOTS * _SPOT:
        yield from ((at, min(at + _BLOCK, size)) for at in range(0, size, _BLOCK))
        return
    step = (size - _SPOT) // (_SPOTS - 1)
    for spot in range(_SPOTS):
        start = size - _SPOT if spot == _SPOTS - 1 else spot * step & ~3
        yield start, start + _SPOT


def pattern(start: int, stop: int, sample: int) -> Any:
    """The bytes of a source in a range of at most a block, in some sample."""
    key = (start * 0x9E3779B1 + sample * 0x85EBCA77 + 0x27D4EB2F) & 0xFFFFFFFF
    words = -(-(stop - start) // 4)
    return (_SCRAMBLE[:words] ^ np.uint32(key)).view(np.uint8)[: stop - start]


def spoiled(size: int) -> Any:
    """The bytes that overwrite a range of a target."""
    return np.full(size, POISON, np.uint8)


_MOST_PAIRS = 8
"""Pairs of a slot that are checked where not all are."""


class ByteCheck:
    """Checks slots of one operation, outside of the measured time."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._sample = 0

    def prepare(self, slots: Sequence[Slot], *, whole: bool) -> None:
        """Fill the sources with a pattern, spoil the targets."""
        self._sample += 1
        for number, pair in _chosen(slots, whole):
            size = len(pair.source)
            for start, stop in blocks(size, whole=whole):
                self._put(pair.source, start, stop, pattern(start, stop, self._key(number)))
                if pair.spoil:
                    self._put(pair.target(), start, stop, spoiled(stop - start))
        self._machine.synchronize()

    def arrived(self, slots: Sequence[Slot], *, whole: bool) -> bool:
        """Return True if the targets hold the bytes of the sources."""
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
    """The pairs to check, numbered; of many a few, with the first and the last."""
    pairs = [pair for slot in slots for pair in slot.pairs]
    step = 1 if whole else max(1, -(-len(pairs) // _MOST_PAIRS))
    chosen = range(0, len(pairs), step)
    yield from ((number, pairs[number]) for number in chosen)
    if pairs and chosen[-1] != len(pairs) - 1:
        yield len(pairs) - 1, pairs[-1]

"""Whether the bytes arrived: a pattern that no other sample has, over a target that was spoiled.

A source is filled by blocks: a fixed scramble of the word's place, exclusive-or a key of block
and sample. So a byte that was not copied, copied from elsewhere, or left from another sample
differs. Large buffers are checked whole in the first and last sample, in spots in the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

_WORDS = 1 << 18
_BLOCK = _WORDS * 4
_SPOTS = 5
_SPOT = 4096

POISON = 0xA5
"""What targets hold before a copy."""

_SCRAMBLE = np.arange(_WORDS, dtype=np.uint32) * np.uint32(2654435761)


def blocks(size: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Ranges of bytes to look at: all of them, or a few, of which one is at each end."""
    if whole or size <= _SPOTS * _SPOT:
        yield from ((at, min(at + _BLOCK, size)) for at in range(0, size, _BLOCK))
        return
    step = (size - _SPOT) // (_SPOTS - 1)
    for spot in range(_SPOTS):
        start = size - _SPOT if spot == _SPOTS - 1 else spot * step & ~3
        yield start, start + _SPOT


def pattern(start: int, stop: int, sample: int) -> Any:
    """The bytes that a source holds in a range of at most a block, in some sample."""
    key = (start * 0x9E3779B1 + sample * 0x85EBCA77 + 0x27D4EB2F) & 0xFFFFFFFF
    words = -(-(stop - start) // 4)
    return (_SCRAMBLE[:words] ^ np.uint32(key)).view(np.uint8)[: stop - start]


def spoiled(size: int) -> Any:
    """What a range of a target is overwritten with."""
    return np.full(size, POISON, np.uint8)

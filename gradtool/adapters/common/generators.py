"""Where the global generators of Python and NumPy stand, and how to put them back.

NumPy needs a third of a millisecond to say so, as long as a whole call of a small Function. It
is asked only where the memory in which it keeps its state holds other bytes than when it was
asked last.
"""

from __future__ import annotations

import ctypes
import pickle
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_MERSENNE_BYTES = 4 * 624 + 4
"""What the Mersenne Twister keeps in memory: its key and the position in it."""


@dataclass(frozen=True)
class _NumPyState:
    """The state of NumPy's global generator."""

    generator: int
    """Which one it is: users may replace it."""
    memory: bytes
    """All of the state but what `has_gauss` speaks of."""
    has_gauss: int
    """Whether it holds a normal number that is drawn already."""
    full: Any = field(compare=False)


@dataclass(frozen=True)
class Drawn:
    """How far the global generators have been drawn from; equal where nothing was drawn."""

    python: Any
    numpy: _NumPyState


class _Last:
    """What NumPy said last."""

    state: _NumPyState | None = None


def drawn() -> Drawn:
    """Where the generators of Python and NumPy stand."""
    return Drawn(random.getstate(), _numpy_state())


def go_to(position: Drawn) -> None:
    """Let the generators of Python and NumPy stand there."""
    random.setstate(position.python)
    np.random.set_state(position.numpy.full)
    _Last.state = position.numpy


def _numpy_state() -> _NumPyState:
    generator: Any = np.random.get_bit_generator()  # type: ignore[attr-defined]  # it is public
    last = _Last.state
    memory = _memory(generator)
    same = last is not None and (last.generator, last.memory) == (id(generator), memory)
    # A normal number that is held is handed out without a trace in the memory.
    if last is None or not same or last.has_gauss or not memory:
        full = np.random.get_state(legacy=False)
        memory = memory or pickle.dumps(full)
        last = _NumPyState(id(generator), memory, full["has_gauss"], full)
        _Last.state = last
    return last


def _memory(generator: Any) -> bytes:
    """The bytes of the state; none where it is not known how many there are."""
    if not isinstance(generator, np.random.MT19937):
        return b""
    return ctypes.string_at(generator.ctypes.state_address, _MERSENNE_BYTES)

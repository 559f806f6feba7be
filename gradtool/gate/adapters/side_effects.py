"""Makes sure that a batched run of a user's code computes and does nothing else.

A buffer written to once for a whole batch is not what it would be after a run for each
example, and may be left batched. Such a run is an error here, and the buffers are put back.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.engine import Tensor


class SideEffectError(Exception):
    """A batched run did more than compute."""


@contextmanager
def without_side_effects(buffers: Sequence[tuple[str, Any]]) -> Iterator[None]:
    """Let the block compute and nothing else; `buffers` are what it must not change, by name.

    Raises:
        SideEffectError: It changed a buffer that can be reached from outside, or drew random
            numbers that are not the engine's (which refuses to draw them for a batch).
    """
    before = [_Kept(name, value) for name, value in buffers]
    draws = _position()
    try:
        yield
        if _position() != draws:
            raise SideEffectError("it draws random numbers")
        for kept in before:
            if kept.is_changed():
                raise SideEffectError(f"it changes {kept.name}")
    finally:
        for kept in before:
            kept.restore()


class _Kept:
    """A buffer as it was."""

    def __init__(self, name: str, buffer: Any) -> None:
        self.name = name
        self._buffer = buffer
        self._array = buffer._array if isinstance(buffer, Tensor) else buffer
        self._values = self._array.copy()
        self._kind = type(buffer)
        self._fields = dict(vars(buffer)) if isinstance(buffer, Tensor) else {}

    def is_changed(self) -> bool:
        if isinstance(self._buffer, Tensor) and self._buffer._array is not self._array:
            return True
        return bool(self._array.tobytes() != self._values.tobytes())

    def restore(self) -> None:
        if not self.is_changed():
            return
        if isinstance(self._buffer, Tensor):
            self._buffer.__class__ = self._kind
            self._buffer._array = self._array
            vars(self._buffer).clear()
            vars(self._buffer).update(self._fields)
        self._array[...] = self._values


def _position() -> tuple[Any, ...]:
    """Where Python's and NumPy's global generators are."""
    state = np.random.get_state(legacy=False)
    mersenne = state["state"]
    return random.getstate(), mersenne["key"].tobytes(), mersenne["pos"], state["has_gauss"]

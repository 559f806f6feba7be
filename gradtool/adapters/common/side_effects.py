"""Detection and undoing of side effects of a user's code.

A buffer written to once for a whole batch is not what it would be after a run for each
example, and may be left batched. Such a run is an error here, and the buffers are restored. An
object that a call updates on purpose, such as a running statistic, is restored for the next call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from gradtool.adapters.common.buffers import is_of_the_engine, visited
from gradtool.adapters.common.random_state import generator_state
from gradtool.adapters.library import Snapshot, library
from gradtool.verify.protocol.observation import Array


class SideEffectError(Exception):
    """A batched run had a side effect."""


@contextmanager
def without_side_effects(roots: Sequence[tuple[str, Any]]) -> Iterator[None]:
    """Undo the side effects of the block if it has any or raises.

    Args:
        roots: (name, object) pairs from which to look for what the block can change.

    Raises:
        SideEffectError: The block changed a reachable buffer, replaced an object, or drew random
            numbers from another generator than the engine's (which raises by itself in a batch).
    """
    before, state = _Reachable(roots), generator_state()
    try:
        yield
        # The engine's own generator raises by itself in a batch.
        if generator_state() != state:
            raise SideEffectError("it draws random numbers")
        for name, buffer in before.buffers:
            if buffer.is_changed():
                raise SideEffectError(f"it changes {name}")
        if any(holder.is_changed() for holder in before.holders):
            raise SideEffectError("it keeps something for another call")
    except BaseException:
        before.restore()
        raise


@contextmanager
def restored(roots: Sequence[tuple[str, Any]]) -> Iterator[None]:
    """Restore, after the block, what can be reached from `roots`, (name, object) pairs."""
    before = _Reachable(roots)
    try:
        yield
    finally:
        before.restore()


class _Reachable:
    """State of what can be reached from some objects, to restore it."""

    def __init__(self, roots: Sequence[tuple[str, Any]]) -> None:
        buffers, objects = visited(roots)
        self.holders = [_Holder(each) for each in objects if _Holder.has_entries(each)]
        self.buffers = [(name, _snapshot(buffer)) for name, buffer in buffers]

    def restore(self) -> None:
        for holder in self.holders:
            holder.restore()
        for _, buffer in self.buffers:
            buffer.restore()


class _Holder:
    """The entries of a class, an object, a dict, a list or a module's variables, as they were."""

    def __init__(self, holder: Any) -> None:
        self._holder = holder
        self._entries = self._read()

    @staticmethod
    def has_entries(value: Any) -> bool:
        """Return True if the user's code can replace something in it."""
        if is_of_the_engine(value):
            return False
        if isinstance(value, type | dict | list | FunctionType):
            return True
        return hasattr(value, "__dict__") and not isinstance(value, library().Tensor | ModuleType)

    def _read(self) -> dict[Any, Any]:
        holder = self._holder
        if isinstance(holder, list):
            return dict(enumerate(holder))
        if isinstance(holder, FunctionType):
            names = holder.__code__.co_names
            return {n: holder.__globals__[n] for n in names if n in holder.__globals__}
        return dict(holder if isinstance(holder, dict) else vars(holder))

    def is_changed(self) -> bool:
        now, before = self._read(), self._entries
        # By identity: comparing tensors with == gives a tensor.
        return now.keys() != before.keys() or any(now[k] is not v for k, v in before.items())

    def restore(self) -> None:
        if not self.is_changed():
            return
        holder = self._holder
        if isinstance(holder, list):
            # In place, since others hold the same list.
            holder[:] = self._entries.values()
        elif isinstance(holder, dict):
            holder.clear()
            holder.update(self._entries)
        elif isinstance(holder, FunctionType):
            holder.__globals__.update(self._entries)
        else:
            self._restore_attributes()

    def _restore_attributes(self) -> None:
        now = self._read()
        for name in now.keys() - self._entries.keys():
            delattr(self._holder, name)
        for name, value in self._entries.items():
            if name not in now or now[name] is not value:
                setattr(self._holder, name, value)


class _ArraySnapshot:
    """An array with its values as they were."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self._values = array.copy()

    def is_changed(self) -> bool:
        # By bytes, since NaN differs from itself.
        return self._array.tobytes() != self._values.tobytes()

    def restore(self) -> None:
        if self.is_changed():
            self._array[...] = self._values


def _snapshot(buffer: Any) -> Snapshot:
    return _ArraySnapshot(buffer) if isinstance(buffer, np.ndarray) else library().snapshot(buffer)

"""Makes sure that a batched run of a user's code computes and does nothing else.

A buffer written to once for a whole batch is not what it would be after a run for each
example, and may be left batched. Such a run is an error here, and the buffers are put back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from gradtool.adapters.common.captured import digest, is_of_the_engine, visited
from gradtool.adapters.common.generators import drawn
from gradtool.adapters.library import library
from gradtool.engine import Tensor


class SideEffectError(Exception):
    """A batched run did more than compute."""


@contextmanager
def without_side_effects(roots: Sequence[tuple[str, Any]]) -> Iterator[None]:
    """Let the block compute and nothing else that can be seen from `roots`, (name, object) pairs.

    Raises:
        SideEffectError: It changed a buffer that can be reached, put something in the place of
            another, or drew random numbers that are not the engine's (which refuses to draw
            them for a batch).
    """
    buffers, objects = visited(roots)
    holders = [_Holder(each) for each in objects if _Holder.has_entries(each)]
    before = [_kept(name, value) for name, value in buffers]
    draws = drawn()
    try:
        yield
        if drawn() != draws:
            raise SideEffectError("it draws random numbers")
        for kept in before:
            if kept.is_changed():
                raise SideEffectError(f"it changes {kept.name}")
        if any(holder.is_changed() for holder in holders):
            raise SideEffectError("it keeps something for another call")
    except BaseException:
        for each in (*holders, *before):
            each.restore()
        raise


class _Holder:
    """What a class, an object, a dict, a list or a module's variables held."""

    def __init__(self, holder: Any) -> None:
        self._holder = holder
        self._entries = self._read()

    @staticmethod
    def has_entries(value: Any) -> bool:
        """Whether something in it can be replaced, and is not the engine's to replace."""
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
        return now.keys() != before.keys() or any(now[k] is not v for k, v in before.items())

    def restore(self) -> None:
        if not self.is_changed():
            return
        holder = self._holder
        if isinstance(holder, list):
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


class _Kept:
    """A buffer as it was: an array, or a tensor of the bundled engine."""

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


class _KeptOfPyTorch:
    """A tensor of PyTorch's as it was."""

    def __init__(self, name: str, buffer: Any) -> None:
        self.name = name
        self._buffer = buffer
        self._values = buffer.detach().clone()
        self._digest = digest(buffer)

    def is_changed(self) -> bool:
        return digest(self._buffer) != self._digest

    def restore(self) -> None:
        if self.is_changed():
            self._buffer.data.copy_(self._values)


def _kept(name: str, buffer: Any) -> _Kept | _KeptOfPyTorch:
    is_known = isinstance(buffer, Tensor | np.ndarray)
    return _Kept(name, buffer) if is_known else _KeptOfPyTorch(name, buffer)

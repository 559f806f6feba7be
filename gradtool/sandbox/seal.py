"""`Seal`: notice when checked code replaces something that the checker stands on.

A fingerprint is the identity of every function, class and constant that the checker runs: of
gradtool's own modules, of the entry points of NumPy and the standard library that they name, and of
the code inside those functions. It is taken before any foreign code runs, and compared afterwards.
What code merely adds, such as a method of its own, is not a difference, unless it hides something
that was found elsewhere before. Libraries may replace whatever the checker does not use.
"""

from __future__ import annotations

import functools
import itertools
import sys
from operator import is_
from types import FunctionType
from typing import Any

from gradtool.sandbox.sealed_parts import Sealed
from gradtool.sandbox.unchanged_memory import IS_READABLE, Memory

# Held here, since the checked code may replace the builtins that a comparison is made with.
_all, _id, _map, _type, _zip, _repeat = all, id, map, type, zip, itertools.repeat
_view = memoryview
_gettrace, _getprofile = sys.gettrace, sys.getprofile

_PARTS = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
"""Attributes that make a function do something else."""


class Seal:
    """The fingerprint of this process, taken when it is made."""

    def __init__(self) -> None:
        found = Sealed()
        self._spaces = tuple(found.spaces)
        self._functions = frozenset(map(id, found.functions))
        self._held_functions = found.functions  # So that no other has the id of one of them.
        self._rewritten = _rewritten_functions()
        self._known = len(self._rewritten)
        self._cells = tuple(found.cells)
        self._held = tuple(cell.cell_contents for cell in self._cells)
        self._objects = tuple(found.objects)
        self._attributes = tuple(map(_attributes, self._objects))
        self._types = tuple(map(type, self._objects))
        self._hooks = sys.gettrace(), sys.getprofile()
        names = (space.names for space in self._spaces)
        self._memory = Memory(names, self._cells) if IS_READABLE else None
        self._versions = self._memory.versions() if self._memory else b""
        self._addresses = self._memory.contents() if self._memory else b""

    def difference(self) -> str | None:
        """The name of something that is not what it was; None if everything is."""
        return (
            self._different_name()
            or self._rewritten_function()
            or self._replaced_closure()
            or self._replaced_object()
            or self._added_hook()
        )

    def _different_name(self) -> str | None:
        """A name that stands for something else, or that hides what it stood for."""
        now = self._memory.versions() if self._memory else b""
        if now and now == self._versions:
            return None
        numbers = _zip(_numbers(now), _numbers(self._versions)) if now else _repeat((0, 1))
        for space, (new, old) in _zip(self._spaces, numbers):
            name = space.difference() if new != old else None
            if name is not None:
                return name
        self._versions = now
        return None

    def _rewritten_function(self) -> str | None:
        for function in self._rewritten[self._known :]:
            if _id(function) in self._functions:
                return _name_of(function)
        return None

    def _replaced_closure(self) -> str | None:
        if self._memory:
            is_same = self._memory.contents() == self._addresses
        else:
            is_same = _all(_map(is_, _map(_contents, self._cells), self._held))
        return None if is_same else "a nested function of gradtool"

    def _replaced_object(self) -> str | None:
        """The type of an object that was given other attributes at once, or another type."""
        is_same = _all(_map(is_, _map(_type, self._objects), self._types)) and _all(
            _map(is_, _map(_attributes, self._objects), self._attributes)
        )
        if is_same:
            return None
        each = _zip(self._objects, self._types, self._attributes)
        changed = next(t for o, t, held in each if _type(o) is not t or _attributes(o) is not held)
        return f"the attributes of one of gradtool's {changed.__qualname__} objects"

    def _added_hook(self) -> str | None:
        if (_gettrace(), _getprofile()) == self._hooks:
            return None
        return "sys.settrace or sys.setprofile, which give code access to the checker's variables"


@functools.cache
def _rewritten_functions() -> list[FunctionType]:
    """Return the functions whose code or defaults were set since the first call, as it grows.

    An audit hook writes the list. To compare thousands of functions instead would take longer, and
    copy every page of memory that holds one, which a worker shares with the fork server.
    """
    rewritten: list[FunctionType] = []

    def hear(event: str, details: tuple[Any, ...]) -> None:
        if event in _CHANGES and details[1] in _PARTS:
            rewritten.append(details[0])

    sys.addaudithook(hear)
    return rewritten


_CHANGES = frozenset({"object.__setattr__", "object.__delattr__"})


def _numbers(read: bytes) -> memoryview:
    """The numbers that were read as bytes."""
    return _view(read).cast("Q")


def _contents(cell: Any) -> object:
    return cell.cell_contents


def _attributes(value: Any) -> object:
    return value.__dict__


def _name_of(function: FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"

"""Buffers: tensors and arrays that a Function reaches without being passed them.

They are attributes of its class and of ctx, and variables that its methods, or functions of its
module that they call, captured or find in their module. The contents of a buffer should not depend
on earlier calls.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from types import CodeType, FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

from gradtool.adapters.library import library

_MAX_DEPTH = 5
_MAX_OBJECTS = 2000
"""Limits of the search: objects that lie deeper, or beyond, are no buffers of a Function."""

_FEW_BYTES = 4096
"""Bytes up to which contents are compared directly: a digest would take longer."""

_ATOMS = frozenset({str, bytes, bool, int, float, complex, type(None)})
"""Types of objects that hold no others."""

Buffers = dict[str, tuple[Any, bytes]]
"""Buffers by name, each with a digest of its bytes."""


def digest(buffer: Any) -> bytes:
    """Return the bytes of a tensor or array, or a digest if they are many."""
    array = buffer if isinstance(buffer, np.ndarray) else library().array(buffer)
    found = array.tobytes()
    return found if len(found) <= _FEW_BYTES else blake2b(found, digest_size=16).digest()


def buffers(roots: Iterable[tuple[str, Any]]) -> Buffers:
    """Find the buffers reachable from `roots`, (name, object) pairs, as they are now."""
    return {name: (value, digest(value)) for name, value in reachable(roots)}


def reachable(roots: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the buffers reachable from `roots`, each once and with its name."""
    return _Search().run(roots)


def visited(roots: Iterable[tuple[str, Any]]) -> tuple[list[tuple[str, Any]], list[Any]]:
    """Return the same as `reachable`, and all objects visited on the way."""
    search = _Search()
    return search.run(roots), search.objects


def changed(before: Buffers, roots: Iterable[tuple[str, Any]]) -> tuple[str, ...]:
    """Return the names of the buffers reachable from `roots` that hold other bytes than before.

    A name that refers to another object now is no changed buffer.
    """
    after = buffers(roots) if before else {}
    return tuple(
        name
        for name, (value, bytes_before) in before.items()
        if name in after and after[name][0] is value and after[name][1] != bytes_before
    )


def roots_of(function: Any) -> list[tuple[str, Any]]:
    """Return the (name, object) pairs from which to search the buffers of a function."""
    if not isinstance(function, type):
        return [("", inspect.unwrap(function))]
    classes = [cls for cls in function.__mro__ if not _is_of_the_library(cls.__module__)]
    return [(cls.__name__, cls) for cls in reversed(classes) if cls is not object]


def holds_others(value: Any) -> bool:
    """Return True for a user's function, or an object of a user's class."""
    if isinstance(value, functools.partial | MethodType):
        return True
    if isinstance(value, FunctionType):
        return not _is_of_the_library(value.__module__)
    return hasattr(value, "__dict__") and not _is_of_the_library(type(value).__module__)


def is_of_the_engine(value: Any) -> bool:
    """Return True for the engine's own classes, functions and objects, Modules excepted."""
    module = (value if isinstance(value, type | FunctionType) else type(value)).__module__
    return _is_of_the_library(module) and not _is_of_the_library(module, ".nn")


def _is_of_the_library(module: str, part: str = "") -> bool:
    return _is_in(str(module), library().packages, part)


@functools.lru_cache(maxsize=4096)  # Each call of a Function asks again for its classes.
def _is_in(module: str, packages: tuple[str, ...], part: str) -> bool:
    return any(f"{module}.".startswith(f"{package}{part}.") for package in packages)


class _Search:
    """One search of everything reachable. Each object is visited once."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}
        self._found: list[tuple[str, Any]] = []
        self._buffers = (library().Tensor, np.ndarray)
        self._modules_of_torch = f"{library().torch.__name__}.nn"

    @property
    def objects(self) -> list[Any]:
        """All visited objects."""
        return list(self._seen.values())

    def run(self, roots: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Return (name, buffer) pairs."""
        roots = list(roots)
        self._modules = {_module_of(value) for _, value in roots}
        self._visit(roots, 0)
        return self._found

    def _visit(self, entries: Iterable[tuple[str, Any]], depth: int) -> None:
        seen = self._seen
        for name, value in entries:
            if type(value) in _ATOMS or id(value) in seen or len(seen) > _MAX_OBJECTS:
                continue
            # Holds the object too: the id of one that was freed could be reused.
            seen[id(value)] = value
            if isinstance(value, self._buffers):
                self._found.append((name, value))
            elif depth < _MAX_DEPTH:
                self._visit(self._children(name, value), depth + 1)

    def _children(self, name: str, value: Any) -> Iterable[tuple[str, Any]]:
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        if isinstance(value, FunctionType):
            return _variables(value) if self._is_of_the_module(value) else ()
        if isinstance(value, Mapping):
            return [(f"{name}[{key!r}]", entry) for key, entry in list(value.items())]
        if isinstance(value, list | tuple):
            return [(f"{name}[{at}]", entry) for at, entry in enumerate(value)]
        if isinstance(value, functools.partial):
            return (("", value.func), (name, value.args), (name, value.keywords))
        if isinstance(value, SimpleNamespace):
            return [(f"{name}.{key}", entry) for key, entry in vars(value).items()]
        if isinstance(value, MethodType):
            return (("", value.__func__), (type(value.__self__).__name__, value.__self__))
        if self._is_of_the_module(value if isinstance(value, type) else type(value)):
            stem = value.__name__ if isinstance(value, type) else name
            attributes = getattr(value, "__dict__", {})
            # Most are no objects that a search would follow, and need no name.
            return [
                (f"{stem}.{key}", entry)
                for key, entry in list(attributes.items())
                if type(entry) not in _ATOMS
            ]
        return ()

    def _is_of_the_module(self, value: Callable[..., Any]) -> bool:
        module = value.__module__
        return module in self._modules or module.startswith(self._modules_of_torch)


def _module_of(value: Any) -> str | None:
    """Return the module that defines a function, a class, or the class of an object."""
    while isinstance(value, functools.partial):
        value = value.func
    module: str | None = getattr(value, "__module__", None)
    return module


def _variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the variables that a function captured, and those of its module that it names."""
    if hasattr(function, "__wrapped__"):
        yield "", function.__wrapped__
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


@functools.lru_cache(maxsize=4096)
def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names, global ones among them, used by code and the code inside it, sorted."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return tuple(sorted(set(code.co_names).union(*(_names(each) for each in inner))))

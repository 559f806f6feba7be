"""`Checkable`: one Function, or plain callable, of a loaded module."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from gradtool.adapters.common.binding import function_class, parameters_of
from gradtool.adapters.library import library
from gradtool.collect.purpose import unchecked
from gradtool.collect.unchecked import Unchecked
from gradtool.results.report import Location


class Checkable(msgspec.Struct, frozen=True, eq=False):
    """A subclass of `Function`, or a callable that computes with tensors, to be checked.

    An ``nn.Module`` class becomes a callable once it is constructed.
    """

    name: str
    obj: Any
    """The Function class, module or callable itself."""
    file: Path
    location: Location
    """The file as reports show it, and the line of the definition."""
    constructed_as: str | None = None
    """One line about how an ``nn.Module`` was constructed."""
    unchecked: Unchecked | None = None
    """Why it is listed only; `obj` may be None then."""

    @property
    def folder(self) -> Path:
        """Folder of the user's code."""
        return self.file.parent

    @property
    def is_function(self) -> bool:
        """True for a Function; a plain callable has no backward of its own."""
        return function_class(self.obj) is not None

    @property
    def call(self) -> Callable[..., Any]:
        """The callable that takes the arguments of a case."""
        called: Callable[..., Any] = self.obj.apply if self.is_function else self.obj
        return called

    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """Parameters that the arguments of a case fill, without ctx."""
        return parameters_of(self.obj)


def is_function(value: object) -> bool:
    """Return True for a Function that can be called: it has a forward."""
    return _is_subclass(value) and getattr(value, "forward", None) is not library().Function.forward


def _is_subclass(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, library().Function)


def reason_not_to_check(value: object) -> Unchecked | None:
    """The reason for which a Function is listed only; None for what can be checked."""
    return unchecked(value) if isinstance(value, type) and _is_subclass(value) else None

"""`Checkable`: one Function, or plain callable, of a loaded module."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradtool.adapters.common.binding import function_class, parameters_of
from gradtool.adapters.library import library
from gradtool.results.report import Location


@dataclass(frozen=True, eq=False)
class Checkable:
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
    """Return True for a Function that can be checked: with a forward and nothing abstract."""
    return (
        isinstance(value, type)
        and issubclass(value, library().Function)
        and getattr(value, "forward", None) is not library().Function.forward
        and not _is_abstract(value)
    )


def _is_abstract(cls: type[Any]) -> bool:
    """Return True if a method is left for a subclass to define."""
    methods = (inspect.getattr_static(cls, name, None) for name in dir(cls))
    return any(getattr(method, "__isabstractmethod__", False) for method in methods)

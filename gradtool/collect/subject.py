"""`Subject`: one Function, or plain callable, of a loaded module."""

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
class Subject:
    """What is checked: a subclass of `Function`, or a callable made of tensor operations.

    An ``nn.Module`` is a callable once it is made of its class.
    """

    name: str
    target: Any
    file: Path
    location: Location
    """The file as it is shown, and the line of the definition."""
    made: str | None = None
    """How an ``nn.Module`` was made, in one line."""

    @property
    def folder(self) -> Path:
        """The folder that the user's code is in."""
        return self.file.parent

    @property
    def is_function(self) -> bool:
        """Whether it is a Function; a plain callable has no backward of its own."""
        return function_class(self.target) is not None

    @property
    def call(self) -> Callable[..., Any]:
        """What takes the arguments of a case."""
        called: Callable[..., Any] = self.target.apply if self.is_function else self.target
        return called

    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """The parameters that the arguments of a case fill, without ctx."""
        return parameters_of(self.target)


def is_function(value: object) -> bool:
    """Whether `value` is a Function that can be checked: one with a forward, nothing abstract."""
    return (
        isinstance(value, type)
        and issubclass(value, library().Function)
        and getattr(value, "forward", None) is not library().Function.forward
        and not _is_abstract(value)
    )


def _is_abstract(cls: type[Any]) -> bool:
    """Whether a method waits for a subclass to define it."""
    methods = (inspect.getattr_static(cls, name, None) for name in dir(cls))
    return any(getattr(method, "__isabstractmethod__", False) for method in methods)

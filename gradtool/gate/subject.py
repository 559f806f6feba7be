"""`Subject`: one Function, or plain callable, of a loaded module."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradtool.engine.autograd import Function
from gradtool.results import Location


@dataclass(frozen=True, eq=False)
class Subject:
    """What is checked: a subclass of `Function`, or a callable made of tensor operations."""

    name: str
    target: Any
    file: Path
    location: Location
    """The file as it is shown, and the line of the definition."""

    @property
    def is_function(self) -> bool:
        """Whether it is a Function; a plain callable has no backward of its own."""
        return isinstance(self.target, type)

    @property
    def folder(self) -> Path:
        """The folder that the user's code is in."""
        return self.file.parent

    @property
    def call(self) -> Callable[..., Any]:
        """What takes the arguments of a case."""
        called: Callable[..., Any] = self.target.apply if self.is_function else self.target
        return called

    @property
    def takes_ctx(self) -> bool:
        """Whether ``forward`` receives ctx, because there is no ``setup_context``."""
        return self.is_function and self.target.setup_context is Function.setup_context

    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """The parameters that the arguments of a case fill, without ctx.

        Raises:
            ValueError: It has no signature, as some builtins have none.
        """
        forward = self.target.forward if self.is_function else self.target
        parameters = tuple(inspect.signature(forward).parameters.values())
        if self.takes_ctx and parameters and parameters[0].kind in _POSITIONAL:
            return parameters[1:]
        return parameters


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def is_function(value: object) -> bool:
    """Whether `value` is a Function that can be checked: one with a forward."""
    return (
        isinstance(value, type)
        and issubclass(value, Function)
        and value.forward is not Function.forward
    )

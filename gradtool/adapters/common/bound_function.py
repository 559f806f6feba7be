"""A user's function with the arguments of a case."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

from gradtool.adapters.common.arguments import Arguments
from gradtool.adapters.common.binding import bind, defaults_of, function_class, names_of, takes_ctx
from gradtool.adapters.common.module_call import ModuleCall
from gradtool.adapters.common.random_state import RepeatedDraws
from gradtool.adapters.library import Outputs, library


class BoundFunction:
    """A Function or plain callable and its arguments. Every call draws the same random numbers.

    Args:
        function: A `Function` subclass, its ``apply``, or any callable.
        args: Positional arguments.
        kwargs: Keyword arguments. A Function's are moved to their positions.
        names: Names of the positional arguments, if the signature has none.

    Raises:
        TypeError: `kwargs` do not fit the signature of ``forward``.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        names: Sequence[str] | None = None,
    ) -> None:
        self.cls: type[Any] | None = function_class(function)
        """The custom Function; None for a plain callable."""
        self.callable: Callable[..., Any] = self.cls.apply if self.cls else function
        self.target: Callable[..., Any] = self.cls or function
        """The user's own Function or callable."""
        if self.cls:
            args, kwargs = bind(function, args, kwargs)
        parameters = function.parameters if isinstance(function, ModuleCall) else ()
        names = names or names_of(function, len(args))
        self.arguments = Arguments(names, args, kwargs, parameters)
        self.draws = RepeatedDraws()

    @cached_property
    def home(self) -> Path:
        """The folder of the user's module."""
        return _folder(self.target)

    def with_defaults(self) -> BoundFunction | None:
        """Pass the defaults of ``forward`` too; None if no argument was left to its default."""
        if self.cls is None or not takes_ctx(self.cls):
            return None
        arguments = self.arguments.extended(defaults_of(self.cls))
        return None if arguments is None else self._with(arguments)

    def variants(self) -> list[BoundFunction]:
        """Return the same function with other numbers among its arguments, and other draws."""
        return [self._with(arguments) for arguments in self.arguments.variants()]

    def with_value(self, position: int, value: Any) -> BoundFunction:
        """Return the same function with another value of an argument that is no tensor."""
        return self._with(self.arguments.with_value(position, value))

    def _with(self, arguments: Arguments) -> BoundFunction:
        other = copy(self)
        other.arguments, other.draws = arguments, RepeatedDraws()
        return other

    def __call__(self, tensors: Sequence[Any]) -> Outputs:
        """Return the outputs, with `tensors` in the places of the case's tensors."""
        return self.through(self.callable, tensors)

    def through(self, function: Callable[..., Any], tensors: Sequence[Any]) -> Outputs:
        """Return the outputs of another `function` of the same arguments."""
        args, kwargs = self.arguments.placed(tensors)
        if self.draws.is_over:
            output = function(*args, **kwargs)
        else:
            with self.draws.repeated():
                output = function(*args, **kwargs)
        outputs = output if isinstance(output, tuple | list) else (output,)
        kind = library().Tensor
        return tuple([each if isinstance(each, kind) else None for each in outputs])


def _folder(function: Any) -> Path:
    """Return the folder of the module that defines `function`; the current one if there is none."""
    with contextlib.suppress(TypeError):
        return Path(inspect.getfile(inspect.unwrap(function))).parent
    with contextlib.suppress(FileNotFoundError):  # Code that ran before may have removed it.
        return Path.cwd()
    return Path(os.sep)

"""Names of a case's arguments, and their positions in ``forward``.

``forward`` is called without ctx here: position 0 is the first argument after it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from gradtool.adapters.library import library

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def function_class(function: Any) -> type[Any] | None:
    """Return the Function that `function` is, or is the ``apply`` of; None for other callables."""
    owner = function
    if getattr(function, "__name__", None) == "apply":
        owner = getattr(function, "__self__", None)
    return owner if isinstance(owner, type) and issubclass(owner, library().Function) else None


def takes_ctx(cls: type[Any]) -> bool:
    """Return True if a Function's ``forward`` takes ctx: it does not define ``setup_context``."""
    return bool(cls.setup_context is library().Function.setup_context)


def parameters_of(function: Any) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a call, without ctx; none if there is no signature."""
    cls = function_class(function)
    try:
        parameters = _signature(cls.forward if cls else function)
    except (TypeError, ValueError):
        return ()
    if cls is not None and takes_ctx(cls) and parameters and parameters[0].kind in _POSITIONAL:
        return parameters[1:]
    return parameters


def _signature(function: Any) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a function; those of plain ones are read once."""
    read = _parameters if inspect.isfunction(function) else _parameters.__wrapped__
    return read(function)


@lru_cache(maxsize=64)
def _parameters(function: Any) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())


def parameter_in_place_of_ctx(function: Any) -> str | None:
    """The first parameter of a ``forward`` that forgot ctx; None if it has ctx, by any name.

    The methods of a Function give ctx the same name, so one that differs in backward was forgotten.
    """
    cls = function_class(function)
    if cls is None or not takes_ctx(cls):
        return None
    first, other = _first_name(cls.forward), _first_name(cls.backward)
    is_ctx = first is None or other is None or first == other or bool(_CTX.search(first))
    return None if is_ctx else first


_CTX = re.compile(r"ctx|context|^_|^self$|^cls$", re.IGNORECASE)
"""Matches names of ctx that differ between the methods of some Functions."""


def _first_name(method: Any) -> str | None:
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return None
    return next((each.name for each in parameters if each.kind in _POSITIONAL), None)


def bind(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Move keyword arguments of ``apply`` to their positions.

    A gradient belongs to a position, so a keyword argument needs one. Parameters between the
    positional arguments and the last keyword argument take their defaults; later ones are
    omitted, as in a call. Keyword-only arguments remain so.

    Raises:
        TypeError: ``forward`` has no such parameter, has it twice, or lacks one before it.
    """
    if not kwargs:
        return tuple(args), {}
    parameters = parameters_of(function)
    bound = inspect.Signature(parameters).bind_partial(*args, **kwargs)
    places = [each for each in parameters if each.kind in _POSITIONAL]
    last = max((i for i, each in enumerate(places) if each.name in bound.arguments), default=-1)
    positional = [_value(bound, each) for each in places[: last + 1]]
    variadic = [each.name for each in parameters if each.kind is inspect.Parameter.VAR_POSITIONAL]
    extra = bound.arguments.get(variadic[0], ()) if variadic else ()
    named = {each.name for each in places}
    return (*positional, *extra), {k: v for k, v in bound.kwargs.items() if k not in named}


def _value(bound: inspect.BoundArguments, parameter: inspect.Parameter) -> Any:
    value = bound.arguments.get(parameter.name, parameter.default)
    if value is inspect.Parameter.empty:
        raise TypeError(f"missing a required argument: {parameter.name!r}")
    return value


def defaults_of(function: Any) -> dict[int, tuple[str, Any]]:
    """Map the position of each parameter that has a default to its name and default."""
    places = [each for each in parameters_of(function) if each.kind in _POSITIONAL]
    return {
        at: (each.name, each.default)
        for at, each in enumerate(places)
        if each.default is not inspect.Parameter.empty
    }


def names_of(function: Any, count: int) -> tuple[str, ...]:
    """Return the names of the first `count` positional arguments."""
    names: list[str] = []
    for parameter in parameters_of(function):
        if parameter.kind in _POSITIONAL:
            names.append(parameter.name)
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{i}]" for i in range(count - len(names))]
    names += [f"arg{position}" for position in range(len(names), count)]
    return tuple(names[:count])

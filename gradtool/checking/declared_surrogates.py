"""The surrogate gradients that a configuration declares for a Function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.common.parsed_source import forward_of
from gradtool.cases.sources import ResolvedCase
from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import NoCase
from gradtool.spelling import did_you_mean
from gradtool.verify.wording import listed


def require_surrogates(checkable: Checkable, settings: Settings) -> None:
    """Refuse a declaration that does not match the module.

    Raises:
        NoCase: ``forward`` has no argument of that name, or the module no such function.
    """
    names = [parameter.name for parameter in checkable.parameters()]
    for i, name in enumerate(settings.surrogate):
        if name not in names:
            known = f"it has {listed(names)}{did_you_mean(name, names)}"
            message = f"forward has no argument {name!r}; {known}"
            raise NoCase(message, part=f"surrogate[{i}]")
    wanted = settings.surrogate_of
    if wanted is not None and not callable(_found(checkable, wanted)):
        near = did_you_mean(wanted, _functions(checkable))
        raise NoCase(f"the module has no function {wanted!r}{near}", part="surrogate_of")


def intended(
    checkable: Checkable, case: ResolvedCase, settings: Settings
) -> FunctionDifferentiable | None:
    """The function whose derivative the surrogates are, at the same case; None if none is named."""
    if settings.surrogate_of is None:
        return None
    function = _found(checkable, settings.surrogate_of)
    names = [parameter.name for parameter in checkable.parameters()]
    return FunctionDifferentiable(
        _taking(function, names), case.args, case.kwargs, name=settings.surrogate_of, names=names
    )


def _globals(checkable: Checkable) -> dict[str, Any]:
    """The names of the module of the Function; none for a built-in callable."""
    forward = inspect.unwrap(forward_of(checkable.obj))
    return getattr(forward, "__globals__", {})


def _functions(checkable: Checkable) -> list[str]:
    return [name for name, value in _globals(checkable).items() if inspect.isfunction(value)]


def _found(checkable: Checkable, name: str) -> Any:
    """Look up `name` in the module of the Function; None if it has no such name."""
    first, *rest = name.split(".")
    value = _globals(checkable).get(first)
    for attribute in rest:
        value = getattr(value, attribute, None)
    return value


def _taking(function: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """Let `function` take all arguments of forward, of which it uses those of its own names."""
    wanted = list(inspect.signature(function).parameters)
    if set(wanted) <= set(names):
        return lambda *args: function(*(args[names.index(name)] for name in wanted))
    return lambda *args: function(*args[: len(wanted)])

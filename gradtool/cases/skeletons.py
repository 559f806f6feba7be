"""Code that makes an object which inference could not make, for a user to start from."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gradtool.cases.inference.annotations import class_of
from gradtool.cases.inference.calls.results import ITSELF
from gradtool.cases.inference.constructors import namespace_of
from gradtool.cases.inference.roles import (
    NO_FILE,
    is_callable,
    plain_values,
    takes_tensor,
)
from gradtool.cases.inference.search import Wanted

_DEPTH = 2
"""Objects within an object that are written out."""

_OPEN = "..."
"""What only the user knows."""

_METHOD = "lambda x, *_, **__: x"
"""A method of which nothing but its name is known."""

_TENSOR = "torch.randn(3, 4, dtype=torch.float64)"

_SINGLE = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def object_code(
    parameter: inspect.Parameter, wanted: Wanted, namespace: Mapping[str, Any]
) -> list[str]:
    """The lines of code that assign an object to the name of a parameter.

    Args:
        parameter: The parameter, which a class of the user's may annotate.
        wanted: What the source says of the object.
        namespace: The globals of the Function.
    """
    cls = class_of(parameter, namespace)
    code = _Code(namespace)
    value = code.made(wanted) if cls is None else code.constructed(cls, _DEPTH)
    return [*code.before, f"{parameter.name} = {value}  # {wanted.kind}"]


class _Code:
    """Code of an object, with what has to be imported and defined before.

    Args:
        namespace: The globals of the Function.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self.before: list[str] = []

    def made(self, wanted: Wanted) -> str:
        """The expression of an object without a class that is known."""
        if wanted.keys:
            return f"{{{', '.join(f'{key!r}: {_OPEN}' for key in wanted.keys)}}}"
        if not (wanted.attributes or wanted.returns):
            return _OF_KIND.get(wanted.kind, _OPEN)
        self.before.append("from types import SimpleNamespace")
        if not wanted.attributes:
            return _returning(wanted.returns[ITSELF])
        given = (f"{name}={_attribute(name, wanted)}" for name in wanted.attributes)
        return f"SimpleNamespace({', '.join(given)})"

    def constructed(self, cls: type[Any], depth: int) -> str:
        """The call of a class, or of a subclass to complete, with what its constructor needs."""
        name = cls.__name__
        if self._namespace.get(name) is not cls and "." not in cls.__qualname__:
            self.before.append(f"from {cls.__module__} import {name}")
        if issubclass(cls, enum.Enum):
            return f"{name}.{next(iter(cls)).name}"
        if inspect.isabstract(cls):
            own = f"Own{name[0].upper()}{name[1:]}"
            self.before += [f"class {own}({name}):", *(f"    {line}" for line in _methods(cls))]
            name = own
        namespace = namespace_of(cls)
        needed = [
            f"{each.name}={self._value(each, namespace, depth)}"
            for each in _parameters(cls).values()
            if each.default is each.empty and each.kind in _SINGLE
        ]
        return f"{name}({', '.join(needed)})"

    def _value(self, parameter: inspect.Parameter, namespace: Mapping[str, Any], depth: int) -> str:
        """The expression of a value of a parameter by its annotation or its name."""
        if takes_tensor(parameter):
            return _TENSOR
        if is_callable(parameter):
            return _METHOD
        cls = class_of(parameter, namespace)
        if cls is not None:
            is_made = depth > 1 or issubclass(cls, enum.Enum)
            return self.constructed(cls, depth - 1) if is_made else _OPEN
        is_whole = parameter.annotation in (int, "int")
        values = _known(parameter) or [2] * is_whole
        return repr(values[0]) if values else _OPEN


_OF_KIND = {"a function": "torch.tanh", "a list": f"[{_TENSOR}]"}
"""What is no object with attributes, to start from."""


def _attribute(name: str, wanted: Wanted) -> str:
    """The expression of an attribute of which only the name is known."""
    if name in wanted.returns:
        return _returning(wanted.returns[name])
    if name in wanted.methods:
        return _METHOD
    plain = inspect.Parameter(name.strip("_") or "_", inspect.Parameter.KEYWORD_ONLY)
    return next(map(repr, _known(plain)), _OPEN)


def _returning(attributes: Iterable[str]) -> str:
    """The expression of a function that returns an object with some attributes."""
    given = ", ".join(f"{name}={_OPEN}" for name in attributes)
    return f"lambda *_, **__: SimpleNamespace({given})"


def _known(parameter: inspect.Parameter) -> list[Any]:
    return [value for value in plain_values(parameter) if value != NO_FILE]


def _methods(cls: type[Any]) -> Iterator[str]:
    """Yield the lines of the methods that a subclass has to define."""
    for name in sorted(cls.__abstractmethods__):
        method = inspect.getattr_static(cls, name)
        if isinstance(method, property):
            yield "@property"
        names = list(_parameters(method.fget if isinstance(method, property) else method))
        yield f"def {name}({', '.join(names) or 'self'}):"
        yield f"    {_OPEN}"


def _parameters(function: Callable[..., Any] | None) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function or object).parameters
    except (TypeError, ValueError):
        return {}

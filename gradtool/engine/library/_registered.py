"""Operators that are declared by a schema and implemented in Python: ``torch.library.define``.

There is no dispatcher: a call runs the implementation for the device, or else one for all devices,
in the current grad mode.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradtool.engine._placeholder import EngineLacksError
from gradtool.engine._tensor import Tensor

_FOR_ALL = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "default", "")
"""Dispatch keys of implementations for all devices, those first that PyTorch prefers."""

_FORMULAS = frozenset({"Meta", "Autograd", "AutogradCPU", "AutogradCUDA", "Functionalize"})
"""Dispatch keys of what computes no outputs, or wraps what does."""


class RegisteredOp:
    """An operator with a schema, to which implementations are added.

    Args:
        name: ``namespace::name``.
        schema: ``(Tensor x, float scale=1) -> Tensor``, after the name.
    """

    def __init__(self, name: str, schema: str) -> None:
        self._name = name
        self._parameters = tuple(_parameters(schema))
        self._kernels: dict[str, Callable[..., Any]] = {}

    def __repr__(self) -> str:
        return self._name.replace("::", ".")

    @property
    def default(self) -> RegisteredOp:
        """The overload without a name: the operator itself."""
        return self

    def implement(self, keys: str | Sequence[str], function: Callable[..., Any]) -> None:
        """Add the implementation for devices or dispatch keys."""
        for key in [keys] if isinstance(keys, str) else keys:
            if key not in _FORMULAS:
                self._kernels[key.upper() if key in ("cpu", "cuda") else key] = function

    def register_kernel(
        self, keys: str | Sequence[str], function: Callable[..., Any] | None = None, /
    ) -> Any:
        """Add the implementation for devices, or return a decorator that does."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self.implement(keys, function)
            return function

        return register if function is None else register(function)

    def register_fake(self, function: Callable[..., Any], /, **_: Any) -> Callable[..., Any]:
        """Register shapes and dtypes of the outputs, which are not used here."""
        return function

    register_autograd = register_vmap = register_fake
    """Formulas are not used either: the steps of the implementation are differentiated."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the implementation for the device of the first tensor.

        Raises:
            EngineLacksError: there is none in Python for the device.
        """
        tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, Tensor)]
        device = tensors[0].device.type.upper() if tensors else "CPU"
        kernel = next((self._kernels[k] for k in (device, *_FOR_ALL) if k in self._kernels), None)
        if kernel is None:
            raise EngineLacksError(f"torch.ops.{self!r}")
        return kernel(*args, *self._in_place(len(args), kwargs), **kwargs)

    def _in_place(self, given: int, kwargs: dict[str, Any]) -> list[Any]:
        """Take named arguments out of `kwargs` that have a place after the `given` ones.

        As in PyTorch, what is left to its default at the end is left to the implementation.
        """
        rest = self._parameters[given:]
        last = max((at for at, (name, _) in enumerate(rest, 1) if name in kwargs), default=0)
        return [kwargs.pop(name, default) for name, default in rest[:last]]


def _parameters(schema: str) -> Iterator[tuple[str, Any]]:
    """The names that a schema gives arguments with a place, and their defaults."""
    inside = schema.partition("(")[2].rpartition("->")[0].rpartition(")")[0]
    for part in re.split(r",(?![^\[(]*[\])])", inside):
        declared, _, default = part.strip().partition("=")
        name = declared.split(" ")[-1]
        if name == "*":
            return
        if name:
            yield name, _value(default)


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None

"""``torch.ops``: operators of `gradtool.engine.library.custom_op`, and torch's own, by name."""

from __future__ import annotations

import importlib
from typing import Any

from gradtool.engine._placeholder import Placeholder, placeholder
from gradtool.engine._tensor import Tensor
from gradtool.engine.library import DEFINED

_ONLY_HERE = {
    "_safe_softmax": "gradtool.engine.nn.functional._attention",
    "native_dropout_backward": "gradtool.engine.nn._top_level._dropouts",
    "slice": "gradtool.engine._ops.indexing.views:sliced",
}
"""Operators that have no other public name -> their modules, and their names there."""


class Operator:
    """An operator of ``torch.ops.aten``, or one of its overloads. Either is called alike."""

    def __init__(self, name: str, overload: str | None = None) -> None:
        self._name = self.__name__ = name
        self.overload = overload

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the operator."""
        return _own(self._name)(*args, **named)

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("__") or self.overload is not None:
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return Operator(self._name, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Operator):
            return NotImplemented
        return (self._name, self.overload) == (other._name, other.overload)

    def __hash__(self) -> int:
        return hash((self._name, self.overload))

    def __repr__(self) -> str:
        return f"aten.{self._name}" + (f".{self.overload}" if self.overload else "")


def _own(name: str) -> Any:
    """Return one of torch's own operators; None where the engine has no function of that name."""
    if name in _ONLY_HERE:
        module, _, attribute = _ONLY_HERE[name].partition(":")
        return getattr(importlib.import_module(module), attribute or name)
    for owner in (importlib.import_module("gradtool.engine"), Tensor):
        found = getattr(owner, name, None)
        if callable(found) and not isinstance(found, Placeholder | type):
            return found
    return None


class _Namespace:
    """Namespace of operators, such as ``torch.ops.mine``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        op: Any = DEFINED.get(f"{self._name}::{name}")
        if op is None and self._name == "aten" and not name.startswith("__"):
            op = None if _own(name) is None else Operator(name)
        if op is None:
            return placeholder(f"torch.ops.{self._name}.{name}")
        return op


def load_library(path: Any) -> None:
    """Do nothing: operators that compiled code defines raise by name when used."""


def __getattr__(name: str) -> Any:
    """Return a namespace. PyTorch's own operators raise by name when used."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _Namespace(name)

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
    """One of torch's own operators, or one of its overloads. Either is called alike."""

    def __init__(self, namespace: str, name: str, overload: str | None = None) -> None:
        self._namespace = namespace
        self._name = self.__name__ = name
        self.overload = overload

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the operator."""
        return _own(self._namespace, self._name)(*args, **named)

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("__") or self.overload is not None:
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return Operator(self._namespace, self._name, name)

    def __eq__(self, other: object) -> bool:
        return repr(self) == repr(other) if isinstance(other, Operator) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        overload = f".{self.overload}" if self.overload else ""
        return f"{self._namespace}.{self._name}{overload}"


def _own(namespace: str, name: str) -> Any:
    """Return one of torch's own operators; None where the engine has no function of that name."""
    if namespace == "_c10d_functional":
        collectives = importlib.import_module("gradtool.engine.distributed._c10d_functional")
        return getattr(collectives, name, None)
    if namespace != "aten":
        return None
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
        if op is None and not name.startswith("__") and _own(self._name, name) is not None:
            op = Operator(self._name, name)
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

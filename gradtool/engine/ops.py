"""``torch.ops``: operators made by `gradtool.engine.library.custom_op`, by name."""

from __future__ import annotations

from typing import Any

from gradtool.engine._placeholder import placeholder
from gradtool.engine.library import DEFINED


class _Namespace:
    """Namespace of operators, such as ``torch.ops.mine``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        op = DEFINED.get(f"{self._name}::{name}")
        if op is None:
            return placeholder(f"torch.ops.{self._name}.{name}")
        return op


def __getattr__(name: str) -> Any:
    """Return a namespace. PyTorch's own operators raise by name when used."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _Namespace(name)

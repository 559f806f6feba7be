"""What modules of Functions use of ``torch.utils``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradtool.engine.utils import checkpoint

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """`data`, which is imported when it is first asked for."""
        if name == "data":
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["checkpoint"]

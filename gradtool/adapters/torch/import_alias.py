"""Aliases that resolve imports of gradtool's engine to PyTorch, if that is the engine of the run.

In a module ``from gradtool import Function``, or ``import gradtool.engine as torch``, refers to
the engine that it is checked with.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_PACKAGE = sys.modules["gradtool"]
_ENGINE = "gradtool.engine"


@contextmanager
def answer_engine_imports(torch: ModuleType) -> Iterator[None]:
    """Resolve imports of the engine to PyTorch in the block."""
    modules = {name: found for name in list(sys.modules) if (found := _counterpart(name, torch))}
    names: dict[str, Any] = {"engine": torch, **_public(torch)}
    hidden = {name: sys.modules[name] for name in modules}
    before = {name: vars(_PACKAGE)[name] for name in names if name in vars(_PACKAGE)}
    sys.modules.update(modules)
    vars(_PACKAGE).update(names)
    try:
        yield
    finally:
        sys.modules.update(hidden)
        for name in names:
            # Names are looked up lazily in the package, so those that were absent must be absent
            # again.
            del vars(_PACKAGE)[name]
        vars(_PACKAGE).update(before)


def _counterpart(name: str, torch: ModuleType) -> ModuleType | None:
    """Return PyTorch's module for one of the engine's."""
    if name == _ENGINE:
        return torch
    if not name.startswith(f"{_ENGINE}."):
        return None
    return sys.modules.get(f"torch{name.removeprefix(_ENGINE)}")


def _public(torch: Any) -> dict[str, Any]:
    """Return PyTorch's counterparts of the engine's names in `gradtool`."""
    offered = {
        name: getattr(torch, name)
        for name in _PACKAGE.__all__
        if hasattr(torch, name) and not name.startswith("_")
    }
    function = torch.autograd.function
    return {
        **offered,
        "Function": function.Function,
        "once_differentiable": function.once_differentiable,
    }

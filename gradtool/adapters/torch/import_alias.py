"""Answers imports of gradtool's engine with PyTorch, where that is the engine of the run.

A module that says ``from gradtool import Function``, or ``import gradtool.engine as torch``, means
whichever engine it is checked with.
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
    """While a module is loaded in the block, what it imports of the engine is PyTorch's."""
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
            del vars(_PACKAGE)[name]
        vars(_PACKAGE).update(before)


def _counterpart(name: str, torch: ModuleType) -> ModuleType | None:
    """PyTorch's module for one of the engine's."""
    if name == _ENGINE:
        return torch
    if not name.startswith(f"{_ENGINE}."):
        return None
    return sys.modules.get(f"torch{name.removeprefix(_ENGINE)}")


def _public(torch: Any) -> dict[str, Any]:
    """What `gradtool` offers of the engine, from PyTorch; the checks stay gradtool's."""
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

"""Lets the engine's classes say that they are torch's: ``<class 'torch.Tensor'>``.

For a process that is a script's own: what the script prints of a class then looks as it does
with PyTorch. Pickles name the class there, and ``import torch`` finds it.
"""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType

_ENGINE = "gradtool.engine"
_OF_PRIVATE = {
    "Tensor": "torch",
    "Size": "torch",
    "dtype": "torch",
    "device": "torch",
    "Generator": "torch._C",
}
"""Classes of the engine's private modules that users see, and the module torch defines them in."""


def show_private() -> None:
    """Let the classes of the engine's private modules name torch's."""
    engine = sys.modules[_ENGINE]
    for name, place in _OF_PRIVATE.items():
        getattr(engine, name).__module__ = place


def show(module: ModuleType) -> None:
    """Let the classes that a module of the engine defines name torch's module."""
    name = module.__name__
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__module__ == name:
            with contextlib.suppress(TypeError, AttributeError):  # one that refuses keeps its own
                value.__module__ = "torch" + name.removeprefix(_ENGINE)

"""``torch.utils.hooks``: what registering a hook returns, and hooks that a copy leaves out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

F = TypeVar("F", bound=Callable[..., Any])


def unserializable_hook(f: F) -> F:
    """Mark a hook that is not meant to be in a copy of its tensor; it is left out unwarned."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]  # functions take attributes
    return f


def warn_if_has_hooks(tensor: Tensor) -> None:
    """Warn of hooks that a copy leaves out."""
    hooks: Any = tensor._backward_hooks  # type: ignore[attr-defined]  # attributes are attached
    for hook in (hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
                stacklevel=2,
            )

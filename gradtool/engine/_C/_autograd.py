"""Hooks on saved tensors, under the names of PyTorch's compiled core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine.autograd._saved import SavedTensor
from gradtool.engine.autograd.grad_mode import set_versions as _unsafe_set_version_counter
from gradtool.engine.autograd.graph import saved_tensors_hooks

__all__ = ["SavedTensor", "_unsafe_set_version_counter"]


def _push_saved_tensors_default_hooks(pack: Callable[..., Any], unpack: Callable[..., Any]) -> None:
    saved_tensors_hooks(pack, unpack).__enter__()


def _pop_saved_tensors_default_hooks() -> None:
    saved_tensors_hooks(_same, _same).__exit__()


def _same(tensor: Any) -> Any:
    return tensor


def _saved_tensors_hooks_is_enabled() -> bool:
    return modes.saved_tensor_hooks_disabled is None


def _saved_tensors_hooks_get_disabled_error_message() -> str | None:
    return modes.saved_tensor_hooks_disabled


def _saved_tensors_hooks_disable(message: str) -> None:
    modes.saved_tensor_hooks_disabled = message


def _saved_tensors_hooks_enable() -> None:
    modes.saved_tensor_hooks_disabled = None

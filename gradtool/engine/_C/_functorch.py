"""Queries of the tensors and levels of transforms."""

from __future__ import annotations

from typing import Any

from gradtool.engine import _placeholder
from gradtool.engine._levels import BatchLevel, Wrapped, alive
from gradtool.engine._modes import modes

_DEAD = -2
"""The level of a tensor whose derivative transform was left."""


def _is_of_func(tensor: Any) -> bool:
    return isinstance(tensor, Wrapped) and tensor._level.by_func


def is_batchedtensor(tensor: Any) -> bool:
    """Return True for a tensor of a vmap."""
    return _is_of_func(tensor) and isinstance(tensor._level, BatchLevel)


def is_legacy_batchedtensor(tensor: Any) -> bool:
    """Return True for a tensor of batched gradients, outside of ``torch.func``."""
    level = tensor._level if isinstance(tensor, Wrapped) else None
    return isinstance(level, BatchLevel) and not level.by_func


def is_gradtrackingtensor(tensor: Any) -> bool:
    """Return True for a tensor of a derivative transform."""
    return _is_of_func(tensor) and not isinstance(tensor._level, BatchLevel)


def is_functorch_wrapped_tensor(tensor: Any) -> bool:
    """Return True for a tensor of any transform."""
    return _is_of_func(tensor)


def is_dead_tensor_wrapper(tensor: Any) -> bool:
    """Return True for a tensor of a derivative transform that was left."""
    return is_gradtrackingtensor(tensor) and not tensor._level.alive


def unwrap_if_dead(tensor: Any) -> Any:
    """The tensor that one of a transform that was left stands for; any other as it is."""
    return alive([tensor])[0] if is_dead_tensor_wrapper(tensor) else tensor


def get_unwrapped(tensor: Any) -> Any:
    """The tensor one level below.

    Raises:
        RuntimeError: it is of no transform.
    """
    if not _is_of_func(tensor):
        raise RuntimeError("No wrappers present!")
    level = tensor._level
    return level.physical(tensor)[0] if isinstance(level, BatchLevel) else tensor._value


def dlevel(tensor: Any) -> int:
    """The number of the derivative transform it is of; -1 if that was left, 0 for others."""
    if not is_gradtrackingtensor(tensor):
        return 0
    return int(tensor._level.number) if tensor._level.alive else -1


def maybe_get_level(tensor: Any) -> int:
    """The number of the transform it is of; -1 for a plain tensor."""
    if not _is_of_func(tensor):
        return -1
    return _DEAD if is_dead_tensor_wrapper(tensor) else int(tensor._level.number)


def maybe_get_bdim(tensor: Any) -> int:
    """The dimension with the examples, in the tensor below; -1 if there is none."""
    if not is_batchedtensor(tensor):
        return -1
    return int(tensor._level.physical(tensor)[1])


def maybe_current_level() -> int | None:
    """The number of the innermost transform under way, or None."""
    levels = [level for level in modes.levels if level.by_func]
    return levels[-1].number if levels else None


def current_level() -> int:
    """The number of the innermost transform under way.

    Raises:
        RuntimeError: there is none.
    """
    number = maybe_current_level()
    if number is None:
        raise RuntimeError("no transform is active")
    return number


def get_interpreter_stack() -> None:
    """The transforms under way, the outermost first; None without any.

    Raises:
        EngineLacksError: there are some, which no program can look at.
    """
    if maybe_current_level() is not None:
        raise _placeholder.EngineLacksError("torch._C._functorch.get_interpreter_stack")


def peek_interpreter_stack() -> None:
    """The innermost transform under way; None without any.

    Raises:
        EngineLacksError: there is one, which no program can look at.
    """
    if maybe_current_level() is not None:
        raise _placeholder.EngineLacksError("torch._C._functorch.peek_interpreter_stack")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _placeholder.placeholder(f"torch._C._functorch.{name}")

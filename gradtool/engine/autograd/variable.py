"""The old name of Tensor, from when there was a difference, and the engine that it led to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor

__all__ = ["Variable"]


class ImperativeEngine:
    """Access to the backward walk that is under way."""

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        """Call `callback` at the end of the walk.

        Raises:
            RuntimeError: there is none under way.
        """
        if modes.walk is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        modes.walk.callbacks.append(callback)

    def is_checkpoint_valid(self) -> bool:
        """Return False in a walk with targets, in which a nested one would find too much."""
        return modes.walk is None or modes.walk.captures is None


class _VariableMeta(type):
    # ``isinstance(x, Variable)`` is True of every tensor in torch.
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """The old name of Tensor: calling it returns the tensor it is given."""

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        """The tensor itself, a leaf of its own that requires a gradient as asked."""
        tensor = data.detach()
        if requires_grad:
            tensor.requires_grad = True
        return tensor


def variable(*args: Any, **kwargs: Any) -> None:
    """Refused, as in torch.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")

"""The old name of Tensor, from when there was a difference, and the engine that it led to."""

from __future__ import annotations

import warnings
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

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        """The tensor itself, a leaf of its own that requires a gradient as asked.

        Raises:
            TypeError: `data` is no tensor.
            ValueError: it is to be volatile and require a gradient.
            RuntimeError: it cannot require a gradient.
        """
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                stacklevel=2,
            )
        if volatile and requires_grad:
            raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if data is None:
            return Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if requires_grad and not (data.is_floating_point() or data.is_complex()):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
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


variable.Variable = Variable  # type: ignore[attr-defined]  # the module of torch hides behind it

"""The old name of Tensor, from when there was a difference."""

from __future__ import annotations

from typing import Any

from gradtool.engine._tensor import Tensor

__all__ = ["Variable"]


class _VariableMeta(type):
    # ``isinstance(x, Variable)`` is True of every tensor in torch.
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """The old name of Tensor: calling it returns the tensor it is given."""

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        """The tensor itself, a leaf of its own that requires a gradient as asked."""
        tensor = data.detach()
        return tensor.requires_grad_() if requires_grad else tensor


def variable(*args: Any, **kwargs: Any) -> None:
    """Refused, as in torch.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")

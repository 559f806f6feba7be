"""Names that code written for PyTorch uses, and that change nothing here, or are older names."""

from __future__ import annotations

from typing import Any

from gradtool.engine._tensor import Tensor


class _Switch:
    """Takes effect nowhere; a function, or a context manager."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        pass


class set_multithreading_enabled(_Switch):
    """Accepted: the backward walk runs in the thread that asks for it."""


class enforce_grad_layout_policy(_Switch):
    """Accepted: gradients that leaves accumulate are copies of their own here."""


class _VariableMeta(type):
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

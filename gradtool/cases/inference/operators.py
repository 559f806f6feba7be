"""An object in place of one whose methods compute: a linear operator with its adjoint, a solver."""

from __future__ import annotations

from typing import Any

from gradtool.adapters.library import library


def reversal(*args: Any, out: Any = None, **_: Any) -> Any:
    """Reverse the last floating tensor along its last dimension.

    This map is linear, and its own adjoint and inverse. So it can stand for a method, and for the
    one that belongs to its gradient, whatever they are called. It is not the identity, so that a
    gradient which leaves it out is wrong.
    """
    tensors = [each for each in args if isinstance(each, library().Tensor)]
    tensors = [each for each in tensors if each.is_floating_point() or each.is_complex()]
    if not tensors:
        raise TypeError("no floating-point tensor was given")
    last = tensors[-1]
    result = last.flip(-1) if last.dim() else last
    return result if out is None else out.copy_(result)


class Operator:
    """An object with any method and any part, each of which is `reversal`.

    Args:
        shape: The last dimensions of all tensors that it takes and returns, which its attributes
            give; empty if any shape will do.
    """

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self._shape = shape

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Reverse a tensor; without one, do nothing, as a callback.

        Raises:
            ValueError: It has another shape.
        """
        if not any(isinstance(each, library().Tensor) for each in (*args, *kwargs.values())):
            return None
        result = reversal(*args, **kwargs)
        if tuple(result.shape)[-len(self._shape) :] != self._shape and self._shape:
            raise ValueError(f"expected the shape {self._shape}, got {tuple(result.shape)}")
        return result

    def __getattr__(self, name: str) -> Any:
        """A method or a part, which is the same operator, or a shape if its name says so."""
        if name.startswith("__") or name == "_shape":
            raise AttributeError(name)
        return self._shape if is_shape(name) else self

    def __repr__(self) -> str:
        return f"a linear operator on {self._shape}" if self._shape else "a linear operator"


_REMOVED = ("eig", "lstsq", "solve", "symeig")
"""Methods that PyTorch has removed from Tensor, and that other objects have."""


def is_of_tensor(name: str) -> bool:
    """Return True for an attribute that tensors have."""
    return hasattr(library().Tensor, name) and name not in _REMOVED


def is_shape(name: str) -> bool:
    """Return True for an attribute that is taken for a shape."""
    return name.endswith(("shape", "size"))

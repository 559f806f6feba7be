"""An object in place of one whose methods compute: a linear operator with its adjoint, a solver."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gradtool.adapters.library import library


def reversal(*args: Any, out: Any = None, at: int = -1, **_: Any) -> Any:
    """Reverse the last floating tensor, or the one at another place, along its last dimension.

    Without a tensor, that is an array of NumPy.

    This map is linear, and its own adjoint and inverse. So it can stand for a method, and for the
    one that belongs to its gradient, whatever they are called. It is not the identity, so that a
    gradient which leaves it out is wrong.
    """
    tensors = [each for each in args if isinstance(each, library().Tensor)]
    tensors = [each for each in tensors if each.is_floating_point() or each.is_complex()]
    arrays = [each for each in args if isinstance(each, np.ndarray) and each.dtype.kind in "fc"]
    if not (tensors or arrays):
        raise TypeError("no floating-point tensor was given")
    if not tensors:
        return np.flip(arrays[at], -1).copy() if arrays[at].ndim else arrays[at].copy()
    chosen = tensors[at]
    result = chosen.flip(-1) if chosen.dim() else chosen
    return result if out is None else out.copy_(result)


class Operator:
    """An object with any method and any part, each of which is `reversal`.

    Args:
        shape: The last dimensions of all tensors that it takes and returns, which its attributes
            give; empty if any shape will do.
        at: The place of the tensor that it computes from: the last, which may be a cotangent beside
            the point of a derivative, or the first, beside which others are constants.
        definite: Add the tensor itself, twice: the map is then positive definite, as methods such
            as conjugate gradients require, and no longer its own inverse.
        fills: Write what is computed from the first of several tensors to the last one.
    """

    def __init__(
        self,
        shape: tuple[int, ...] = (),
        *,
        at: int = -1,
        definite: bool = False,
        fills: bool = False,
    ) -> None:
        self._shape, self._at, self._definite, self._fills = shape, at, definite, fills

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Reverse a tensor; without one, do nothing, as a callback.

        Raises:
            ValueError: It has another shape.
        """
        tensors = [e for e in (*args, *kwargs.values()) if isinstance(e, library().Tensor)]
        if not tensors and not any(isinstance(each, np.ndarray) for each in args):
            return None
        if self._fills and len(tensors) > 1:
            return reversal(tensors[0], out=tensors[-1])
        result = reversal(*args, at=self._at, **kwargs)
        if self._definite:
            result = result + 2.0 * reversal(result) if result.ndim else 3.0 * result
        if tuple(result.shape)[-len(self._shape) :] != self._shape and self._shape:
            raise ValueError(f"expected the shape {self._shape}, got {tuple(result.shape)}")
        return result

    def __getattr__(self, name: str) -> Any:
        """A method or a part, which is the same operator, or a shape if its name says so."""
        if name.startswith("__") or name in {"_shape", "_at", "_definite", "_fills"}:
            raise AttributeError(name)
        return self._shape if is_shape(name) else self

    def __repr__(self) -> str:
        kind = "a positive definite operator" if self._definite else "a linear operator"
        kind = kind if self._at else f"{kind} of its first tensor"
        kind = f"{kind}, which fills the last tensor" if self._fills else kind
        return f"{kind} on {self._shape}" if self._shape else kind


NEEDS_DEFINITE = re.compile(
    r"conjugate[ _-]?gradients?|\bPCG\b|(?<![a-z])cg(?![a-z])|positive[- ]definite|self-adjoint"
)
"""Matches a text about a method that requires a positive definite operator."""

_REMOVED = ("eig", "lstsq", "solve", "symeig")
"""Methods that PyTorch has removed from Tensor, and that other objects have."""


def is_of_tensor(name: str) -> bool:
    """Return True for an attribute that tensors have."""
    return hasattr(library().Tensor, name) and name not in _REMOVED


def is_shape(name: str) -> bool:
    """Return True for an attribute that is taken for a shape."""
    return name.endswith(("shape", "size"))

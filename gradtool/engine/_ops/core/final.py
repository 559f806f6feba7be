"""Gradients that nothing is recorded of, which may be computed on arrays at once."""

from __future__ import annotations

from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor


def is_final(*tensors: Tensor) -> bool:
    """Return True if neither a graph nor a level sees what is computed of these tensors."""
    return not modes.grad and all(each.__class__ is Tensor for each in tensors)


__all__ = ["is_final"]

"""A ctx for a ``forward`` that is run for its values alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class SilentCtx:
    """Takes what ``forward`` says, and forgets it. Other attributes may be set freely.

    Args:
        needs_input_grad: For each argument of ``forward``.
    """

    def __init__(self, needs_input_grad: Sequence[bool]) -> None:
        self.needs_input_grad = tuple(needs_input_grad)

    def save_for_backward(self, *tensors: Any) -> None:
        """Nothing is kept."""

    save_for_forward = mark_dirty = mark_non_differentiable = save_for_backward

    def set_materialize_grads(self, value: bool) -> None:
        """Nothing comes of it."""

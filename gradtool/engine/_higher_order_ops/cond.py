"""Branches as functions, which PyTorch's compiler needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def cond(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: Sequence[Any] = (),
) -> Any:
    """Call `true_fn` with the operands if `pred`, a tensor of one entry, holds, else `false_fn`."""
    return true_fn(*operands) if bool(pred) else false_fn(*operands)

"""Wrong entries and lost digits, by functions that mutants find among their names."""

from __future__ import annotations

from typing import Any

import gradtool.engine

torch: Any = gradtool.engine


def last_entry_off(gradient: Any) -> Any:
    """The last entry a tenth too large."""
    return _with_factor(gradient, -1, 1.1)


def first_entry_dropped(gradient: Any) -> Any:
    return _with_factor(gradient, 0, 0.0)


def as_half(gradient: Any) -> Any:
    """Rounded to half precision and back."""
    if not isinstance(gradient, torch.Tensor) or gradient.is_complex():
        return gradient
    return gradient.to(torch.float16).to(gradient.dtype)


def _with_factor(gradient: Any, entry: int, factor: float) -> Any:
    if not isinstance(gradient, torch.Tensor):
        return gradient
    factors = torch.ones(gradient.shape, dtype=gradient.dtype)
    factors.view(-1)[entry] = factor
    return gradient * factors


SPOILING = {each.__name__: each for each in (last_entry_off, first_entry_dropped, as_half)}

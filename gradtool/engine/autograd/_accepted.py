"""Names that code written for PyTorch uses, and that change nothing here, or are older names."""

from __future__ import annotations

from typing import Any

from gradtool.engine.autograd.variable import Variable


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


def variable(*args: Any, **kwargs: Any) -> None:
    """Refused, as in torch.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


__all__ = ["Variable", "enforce_grad_layout_policy", "set_multithreading_enabled", "variable"]

"""Derivatives that PyTorch does not have: computing one raises its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from gradtool.engine._ops.core.kinds import Product
from gradtool.engine._tensor import Tensor

_REQUEST = (
    "that does not support it because it has not been implemented yet.\nPlease file an issue to "
    "PyTorch at https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so "
    "that we can prioritize its implementation"
)
_ADDITION = " or submit a PR adding the implementation to derivatives.yaml"


def no_formula(operation: str, argument: str | None = None) -> Product:
    """The derivative of an operation that PyTorch differentiates, but not by this argument."""
    ending = "." if operation.endswith("_") else _ADDITION
    missing = argument or operation
    return Product(
        _raising(NotImplementedError(f"the derivative for '{missing}' is not implemented.")),
        _raising(
            NotImplementedError(f"Trying to use forward AD with {operation} {_REQUEST}{ending}")
        ),
    )


def no_kernel(operation: str) -> Product:
    """The derivative of an operation that PyTorch does not differentiate at all."""
    name = f"aten::{operation}"
    return Product(
        _raising(RuntimeError(f"derivative for {name} is not implemented")),
        _raising(
            NotImplementedError(f"Trying to use forward AD with {name} that does not support it.")
        ),
    )


def _raising(error: Exception) -> Callable[[Any], NoReturn]:
    def refuse(g: Tensor) -> NoReturn:
        raise type(error)(*error.args)

    return refuse


__all__ = ["no_formula", "no_kernel"]

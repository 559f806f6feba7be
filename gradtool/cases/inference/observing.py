"""Arguments that reach a Function while one of its callers runs."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Iterator
from typing import Any

from gradtool.adapters.common.arguments import unshared
from gradtool.adapters.common.binding import takes_ctx
from gradtool.adapters.library import library
from gradtool.cases.inference.drafts import Draft

_MOST_ENTRIES = 2000
"""Entries of a floating tensor beyond which only its shape is kept."""


@contextlib.contextmanager
def observed(*functions: Any) -> Iterator[list[Draft]]:
    """Note the arguments of each call to Functions in the block, as a configuration writes them."""
    seen: list[Draft] = []
    with contextlib.ExitStack() as stack:
        for function in functions:
            stack.enter_context(_noted_calls(function, seen))
        yield seen


@contextlib.contextmanager
def _noted_calls(function: Any, seen: list[Draft]) -> Iterator[None]:
    """Note the arguments of each call to a Function in the block.

    ``forward`` is replaced rather than ``apply``, of which the module may keep a reference.
    """
    inner, before = function.forward, inspect.getattr_static(function, "forward")
    is_own, first = "forward" in vars(function), int(takes_ctx(function))

    @functools.wraps(inner)
    def forward(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            seen.append(tuple(map(_noted, args[first:])))
        return inner(*args, **kwargs)

    function.forward = staticmethod(forward)
    try:
        yield
    finally:
        if is_own:
            function.forward = before
        else:
            del function.forward


@contextlib.contextmanager
def double_precision() -> Iterator[None]:
    """Create tensors and modules in float64 in the block, as the arguments of a check are."""
    torch = library().torch
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _noted(value: Any) -> Any:
    """The value as a configuration writes it; an object stands for itself."""
    if isinstance(value, library().Tensor):
        return _written(value.detach(), requires_grad=bool(value.requires_grad))
    if type(value) is list and any(isinstance(each, library().Tensor) for each in value):
        return [_noted(each) for each in value]
    if value is None or type(value) in {bool, int, float, str}:
        return value
    return {"literal": unshared(value)}


def _written(tensor: Any, *, requires_grad: bool) -> dict[str, Any]:
    shape = list(tensor.shape)
    dtype = str(tensor.dtype).rpartition(".")[2]
    if not (tensor.is_floating_point() or tensor.is_complex()):
        named = {} if dtype in {"int64", "bool"} and tensor.numel() else {"dtype": dtype}
        return {"values": tensor.tolist(), **named} if tensor.numel() else {"shape": shape, **named}
    spec: dict[str, Any] = {} if requires_grad else {"requires_grad": False}
    if tensor.is_complex():
        return {"shape": shape, "dtype": "complex128", **spec}
    if not 0 < tensor.numel() <= _MOST_ENTRIES:
        return {"shape": shape, **spec}
    return {"values": tensor.double().tolist(), **spec}

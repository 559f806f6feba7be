"""Results that are views in passing only, of memory that nothing else refers to."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from gradtool.engine._tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def of_own_memory(function: F) -> F:
    """Let the results of `function` be no views, unless they are views of an argument.

    For what computes in one shape and returns another: where PyTorch computes at once, the result
    has no base, and is changed in place as any other tensor.
    """

    @functools.wraps(function)
    def call(*args: Any, **params: Any) -> Any:
        out = function(*args, **params)
        for each in out if isinstance(out, tuple) else (out,):
            if isinstance(each, Tensor) and each._view is not None and not _is_of(each, args):
                each._view = None
        return out

    return call  # type: ignore[return-value]  # it has the same parameters


def _is_of(view: Tensor, args: Any) -> bool:
    return any(each._storage is view._storage for each in _tensors(args))


def _tensors(args: Any) -> Iterator[Tensor]:
    for each in args:
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, tuple | list):
            yield from _tensors(each)


__all__ = ["of_own_memory"]

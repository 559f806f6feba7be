"""Dimension numbers and sizes as torch takes them: negative, one by one or as a sequence."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from operator import index
from typing import Any

from gradtool.engine._ops.core.parameters import parameter_names
from gradtool.engine._tensor import Tensor

Ints = tuple[int, ...]


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension number counted from the front. A 0-d tensor counts as having one.

    Raises:
        IndexError: there is no such dimension.
    """
    extent = ndim or 1
    if not -extent <= dim < extent:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], "
            f"but got {dim})"
        )
    return dim + extent if dim < 0 else dim


def wrap_dims(dims: Iterable[int], ndim: int) -> Ints:
    """Several dimension numbers counted from the front.

    Raises:
        IndexError: there is no such dimension.
        RuntimeError: one is given twice.
    """
    wrapped = tuple([wrap_dim(index(dim), ndim) for dim in dims])
    for position, dim in enumerate(wrapped):
        if dim in wrapped[:position]:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return wrapped


def as_ints(values: Any) -> Ints:
    """One integer or a sequence of them, which may be 0-d tensors or NumPy's."""
    if isinstance(values, tuple | list):
        return tuple([index(value) for value in values])
    return (index(values),)


def one_by_one(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let ``f(x, sizes)`` be called as ``f(x, 2, 3)``, ``f(x, (2, 3))``, ``f(x, sizes=(2, 3))``."""
    name = parameter_names(function)[1]

    @functools.wraps(function)
    def spread(x: Tensor, *given: Any, **named: Any) -> Tensor:
        if name in named:
            return function(x, as_ints(named.pop(name)), **named)
        if len(given) == 1 and isinstance(given[0], tuple | list):
            return function(x, as_ints(given[0]), **named)
        return function(x, as_ints(given), **named)

    return spread


def inverse_order(dims: Ints) -> Ints:
    """Return the permutation that undoes a permutation of dimensions."""
    return tuple(sorted(range(len(dims)), key=dims.__getitem__))

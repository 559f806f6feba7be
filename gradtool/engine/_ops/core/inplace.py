"""In-place operations: the values change where they lie, and the graph is rewritten to say so.

``x.mul_(y)`` computes ``x * y`` from a copy of ``x``, writes the result over ``x``, counts the
change, and gives ``x`` the place in the graph that the result had. When ``x`` is a view, its
base and every other view of it changed too: the base's history becomes "the old base with
this view's region replaced", and each view's history is derived from the new base.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._levels import Wrapped, highest
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dtype_support import TYPE_NAMES
from gradtool.engine._ops.core.kinds import zeros_like
from gradtool.engine._ops.core.overlap import check_overlap
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.core.primitive_node import PrimitiveNode
from gradtool.engine._tensor import Tensor, ViewOf, alias, wrap

InPlace = Callable[..., Tensor]


def check_in_place(tensor: Tensor, was: str = "is being") -> None:
    """Refuse a change that autograd could not follow, before it is made or after it has been.

    Raises:
        RuntimeError: the tensor, or what it is a view of, is a leaf that requires a gradient.
    """
    if not modes.grad:
        return
    base = None if tensor._view is None else tensor._view.base
    if base is not None and base._requires_grad and base._node is None:
        raise RuntimeError(
            f"a view of a leaf Variable that requires grad {was} used in an in-place operation."
        )
    if tensor._requires_grad and tensor._node is None:
        raise RuntimeError(
            f"a leaf Variable that requires grad {was} used in an in-place operation."
        )


def in_place(operation: Callable[..., Tensor], name: str) -> InPlace:
    """The in-place form of an operation whose first argument is the tensor to change."""

    @functools.wraps(operation)
    def method(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_in_place(x)
        if x._storage is not None:
            for each in args:
                check_overlap(x, each)
        return replace(x, operation(before_change(x), *args, **kwargs))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{operation.__name__}`, written over the tensor itself."
    return method


def before_change(x: Tensor) -> Tensor:
    """`x` as it is now, for the graph to keep while the memory of `x` changes."""
    if x.__class__ is not Tensor and isinstance(x, Wrapped):
        old: Tensor = x._level.before_change(x, before_change)
        return old
    if not (x._requires_grad and modes.grad):
        return x if x._view is None and not x._requires_grad else alias(x._array, x._storage)
    old = wrap(x._array.copy())
    old._node = x._node
    old._requires_grad = True
    return old


def replace(x: Tensor, result: Tensor) -> Tensor:
    """Let `x` have the values, and when recording the history, of `result`.

    Raises:
        RuntimeError: the result has another shape, a dtype that does not cast to that of `x`,
            or the elements of `x` share memory among themselves.
    """
    write(x, result)
    x._bump()
    if result._requires_grad and modes.grad:
        if result._array.dtype != x._array.dtype:
            # Recorded as a cast, so that the gradient comes back in the dtype of the result.
            result = result.to(x.dtype)
        _rewrite_history(x, result)
    elif modes.grad and x._requires_grad:
        _rewrite_history(x, None)
    return x


def write(x: Tensor, result: Tensor) -> None:
    """Copy the values of `result` over those of `x`."""
    level = highest((x, result))
    if level is not None:
        if not level.owns(x):
            level.lift(x)
        level.write(x, result)
        return
    source, target = result._array, x._array
    if source.shape != target.shape:
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(source.shape)}"
        )
    if not _casts(source.dtype.kind, target.dtype.kind):
        raise RuntimeError(
            f"result type {TYPE_NAMES[source.dtype.name]} can't be cast to the desired output type "
            f"{TYPE_NAMES[target.dtype.name]}"
        )
    check_distinct_elements(target)
    target[...] = source


def check_distinct_elements(array: Any) -> None:
    """Refuse to write to an expanded tensor, whose elements share memory."""
    # CuPy's flags do not have `writeable`; NumPy's `broadcast_to` returns read-only arrays.
    if not getattr(array.flags, "writeable", True) or (
        0 in array.strides
        and array.size
        and any(step == 0 and extent > 1 for step, extent in zip(array.strides, array.shape))
    ):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def _casts(source: str, target: str) -> bool:
    """Return True where a kind of dtype may be written over another: never to a lower category."""
    ranks = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
    return ranks[source] <= ranks[target]


def _rewrite_history(x: Tensor, result: Tensor | None) -> None:
    view = x._view
    if view is None:
        _take_place(x, _overwritten(x) if result is None else result)
        _refresh_views(x)
        return
    base = view.base
    _take_place(base, _copy_slices(base, view, result))
    _refresh_views(base)


def _overwritten(x: Tensor) -> Tensor:
    """Return the constant as a function of the tensor that it is written over, with slope zero."""
    changed = alias(x._array, x._storage)
    _constant_over.record((0,), (x,), {}, changed)
    return changed


def _take_place(x: Tensor, result: Tensor | None) -> None:
    """Give `x` the place in the graph that `result` has; None stands for no place in it."""
    if result is None:
        x._node = None
        x._requires_grad = False
        return
    node = result._node
    if isinstance(node, PrimitiveNode):
        node.keep_output(x)
    x._node = node
    x._requires_grad = True


def _refresh_views(base: Tensor) -> None:
    """Derive the history of every living view of `base` from its new one."""
    storage = base._storage
    if storage is None:
        return
    for view in storage.living_views():
        if view._view is None or view._view.base is not base:
            continue
        if base._requires_grad:
            again = view._view.replay(base)
            view._node = again._node
            view._requires_grad = True
        else:
            view._node = None
            view._requires_grad = False


def _copy_slices(base: Tensor, view: ViewOf, result: Tensor | None) -> Tensor | None:
    """The changed base as a node over the old base and the view's new history."""
    inputs = [base, result]
    needed = tuple(
        position for position, each in enumerate(inputs) if each is not None and each._requires_grad
    )
    if not needed:
        return None
    changed = alias(base._array, base._storage)
    params = {"keep": _outside(base, view), "view": view}
    copy_slices.record(needed, inputs, params, changed)
    return changed


def _outside(base: Tensor, view: ViewOf) -> Tensor:
    """One where the base is not covered by the view, zero where it is.

    For a complex base one in each part: a view may cover the real parts alone.
    """
    keep = np.full_like(base._array, 1 + 1j if base.is_complex() else 1)
    region = keep
    for primitive, params in view.steps:
        region = primitive.compute(region, **params)
    region[...] = 0
    return wrap(keep)


def _kept(g: Tensor, keep: Tensor) -> Tensor:
    if not keep.is_complex():
        return g * keep
    # A complex product would mix the parts.
    return (g.real * keep.real) + (g.imag * keep.imag) * 1j


def _not_computed(base: Any, result: Any) -> Any:
    raise AssertionError("it is recorded after the fact, never computed")


_constant_over = Primitive(
    "constant_over",
    _not_computed,
    (vjp_of(lambda g: zeros_like(g)),),
    arguments=("x",),
    kind="linear",
)
"""A constant, of what it was written over."""
copy_slices = Primitive(
    "copy_slices",
    _not_computed,
    (
        vjp_of(_kept),
        vjp_of(lambda g, view: view.replay(g)),
    ),
    kind="linear",
)
"""The base after one of its views was overwritten, of the base before and the view."""

"""In-place operations: the values change where they lie, and the graph is rewritten to say so.

``x.mul_(y)`` computes ``x * y`` from a copy of ``x``, writes the result over ``x``, counts the
change, and gives ``x`` the place in the graph that the result had. When ``x`` is a view, its
base and every other view of it changed too: the base's history becomes "the old base with
this view's region replaced", and each view's history is derived from the new base.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine._levels import Wrapped, highest
from gradtool.engine._levels.mutation import check_change
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dtype_support import TYPE_NAMES
from gradtool.engine._ops.core.kinds import zeros_like
from gradtool.engine._ops.core.overlap import (
    APART,
    PARTIAL,
    REPEATING,
    UNCHECKED,
    check_apart,
    check_distinct_elements,
    check_overlap,
    last_of_each_place,
    repeats,
    shares_places,
)
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.core.primitive_node import PrimitiveNode
from gradtool.engine._ops.core.view_nodes import CopySlices, ViewAgain, keep_retaining
from gradtool.engine._tensor import Tensor, alias, wrap
from gradtool.engine._views import not_followed
from gradtool.engine.autograd._node import Node, Nowhere

InPlace = Callable[..., Tensor]


def check_in_place(tensor: Tensor, was: str = "is being") -> None:
    """Refuse a change that autograd could not follow, before it is made or after it has been.

    Raises:
        RuntimeError: the tensor, or what it is a view of, is a leaf that requires a gradient; or
            it is a view that was made outside of the graph, by a custom Function, or with others.
    """
    if tensor._requires_grad and modes.grad:
        check_followed(tensor, was)


def check_followed(tensor: Tensor, was: str = "is being") -> None:
    """`check_in_place` of a tensor that is to have a place in the graph from now on."""
    view = tensor._view
    if view is not None:
        if view.made is not None:
            raise not_followed(tensor, directly=True)
        if tensor._requires_grad and view.base.is_leaf:
            raise RuntimeError(
                f"a view of a leaf Variable that requires grad {was} used in an in-place operation."
            )
    if tensor._requires_grad and not tensor._had_node():
        raise RuntimeError(
            f"a leaf Variable that requires grad {was} used in an in-place operation."
        )


def in_place(operation: Callable[..., Tensor], name: str) -> InPlace:
    """The in-place form of an operation whose first argument is the tensor to change."""
    apart, repeating, partial = name in APART, name in REPEATING, name in PARTIAL
    may_overlap, at_once = apart or name in UNCHECKED, name == "index_copy_"

    @functools.wraps(operation)
    def method(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_in_place(x)
        if modes.levels:
            check_change(x, name, args)
        if x._storage is not None and not may_overlap:
            for each in args:
                check_overlap(x, each, is_copied=name == "copy_")
        if apart and at_once:
            for each in args:
                check_apart(x, each)
        result = operation(before_change(x, args), *args, **kwargs)
        if apart:  # As in torch, after the shapes were found to fit.
            for each in (*args, *kwargs.values()):
                check_apart(x, each)
        if partial and not repeating:
            check_distinct_elements(x)
        return replace(x, result, partial)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{name[:-1]}`, written over the tensor itself."
    return method


def before_change(x: Tensor, others: Sequence[Any] = ()) -> Tensor:
    """`x` as it is now, for the graph to keep while the memory of `x` changes.

    The graph keeps it if `x` requires a gradient, or one of `others` that it is changed by.
    """
    if x.__class__ is not Tensor and isinstance(x, Wrapped):
        old: Tensor = x._level.before_change(x, lambda value: before_change(value, others))
        if x._requires_grad:
            old._node, old._requires_grad = _place_before(x), True
        return old
    if not modes.grad or not (x._requires_grad or _is_kept(others)):
        return x if x._view is None and not x._requires_grad else alias(x._array, x._storage)
    old = wrap(x._array.copy())
    if x._requires_grad:
        old._node, old._requires_grad = _place_before(x), True
    return old


def _place_before(x: Tensor) -> Node | None:
    """The place in the graph of `x` as it is now; for a view, from its base alone."""
    view = x._view
    if view is None:
        return x._node
    base = view.base
    last = last_of_each_place(x) if shares_places(x) else None
    return ViewAgain(base._current_node() or base._accumulator(), view, last)


def _is_kept(others: Sequence[Any]) -> bool:
    """Return True if an operation on one of these is recorded, here or at a level."""
    return any(
        isinstance(each, Tensor) and (each._requires_grad or each._level is not None)
        for each in others
    )


def replace(x: Tensor, result: Tensor, partial: bool = False) -> Tensor:
    """Let `x` have the values, and when recording the history, of `result`.

    Raises:
        RuntimeError: the result has another shape, a dtype that does not cast to that of `x`,
            or `x` is expanded, and more is written than what is `partial`.
    """
    if x._view is not None and result._requires_grad and modes.grad:
        check_followed(x)
    write(x, result, partial)
    x._bump()
    if result._requires_grad and modes.grad:
        if result._array.dtype != x._array.dtype:
            # Recorded as a cast, so that the gradient comes back in the dtype of the result.
            result = _cast_as_one(result, x)
        _rewrite_history(x, result)
    elif modes.grad and x._requires_grad:
        _rewrite_history(x, None)
    return x


def _cast_as_one(result: Tensor, x: Tensor) -> Tensor:
    """Return the result in the dtype of `x`, by a node that is shown as that of the result."""
    cast = result.to(x.dtype)
    if isinstance(cast._node, PrimitiveNode) and result._node is not None:
        cast._node.title = result._node.shown()._name()
    return cast


def write(x: Tensor, result: Tensor, partial: bool = False) -> None:
    """Copy the values of `result` over those of `x`.

    If the change is `partial`, memory that elements share keeps what was written to one of them.
    """
    level = highest((x, result))
    if level is not None:
        if not level.owns(x):
            level.lift(x)
        level.write(x, result, partial)
        return
    source, target = result._array, x._array
    if source.shape != target.shape:
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(source.shape)}"
        )
    check_cast(result, x)
    if partial and (repeats(x) or shares_places(x)):
        changed = (source != target) & ((source == source) | (target == target))  # NaN stays NaN
        x._put(changed, source[changed])
        return
    check_distinct_elements(x)
    x._put(..., source)


def check_cast(result: Tensor, x: Tensor) -> None:
    """Refuse to write elements of a kind that those of `x` cannot stand for."""
    source, target = result._array.dtype, x._array.dtype
    if not _casts(source.kind, target.kind):
        raise RuntimeError(
            f"result type {TYPE_NAMES[source.name]} can't be cast to the desired output type "
            f"{TYPE_NAMES[target.name]}"
        )


def _casts(source: str, target: str) -> bool:
    """Return True where a kind of dtype may be written over another: never to a lower category."""
    ranks = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}
    return ranks[source] <= ranks[target]


def _rewrite_history(x: Tensor, result: Tensor | None) -> None:
    if result is None and x._view is None:
        result = _overwritten(x)
    node = None if result is None else result._node
    if isinstance(node, PrimitiveNode):
        node.keep_output(x)
    overwrite_history(x, node)


def overwrite_history(x: Tensor, node: Node | None) -> None:
    """Let `x`, whose values are now the output of a node, or constant, have its place.

    When it is a view, its base was changed by the same.
    """
    view = x._view
    base = x
    if view is not None:
        base = view.base
        before = (base._current_node() or base._accumulator()) if base._requires_grad else Nowhere()
        node = CopySlices(before, node, view)
        if modes.watch is not None:
            modes.watch(node)
    replaced, base._node = base._node, node
    base._requires_grad = True
    if replaced is not None:
        keep_retaining(base, replaced)
    if x._storage is not None:
        x._storage.outdate_views()
    if view is not None and view.made is None:
        x._current_node()


def _overwritten(x: Tensor) -> Tensor:
    """Return the constant as a function of the tensor that it is written over, with slope zero."""
    changed = alias(x._array, x._storage)
    _constant_over.record((0,), (x,), {}, changed)
    return changed


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

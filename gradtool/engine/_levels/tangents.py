"""Tangents of `autograd.forward_ad`: laid out as their primals, and shared by views.

A tangent lies in memory as its primal does, so that a view of the one is a view of the other. A
tensor that becomes dual by a change in place takes its base and the views of that along.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine._lazy import bits, mark, memory
from gradtool.engine._levels import Outline, for_each_example
from gradtool.engine._tensor import Tensor, wrap

_APART = "_carries_no_tangent"


def check_size(primal: Tensor, tangent: Tensor) -> None:
    """Reject a tangent whose shape is not that of its primal.

    Raises:
        RuntimeError: the shapes differ.
    """
    if primal.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(primal.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}."
        )


# ---- layout ---------------------------------------------------------------------------------


def in_layout_of(primal: Tensor, tangent: Tensor) -> Tensor:
    """Return a tangent itself if it lies in memory as its primal does, else a copy that does.

    As in torch, the copy has the dtype of the primal too.
    """
    from gradtool.engine._ops.core.overlap import repeats

    repeats(primal)
    if _same_layout(primal, tangent):
        return tangent
    copied: Tensor
    if tangent._level is not None or isinstance(primal._array, Outline):
        copied = tangent.clone()
    else:
        copied = zeros_in_layout_of(primal, tangent)
        copied._shared_storage()  # So that it is refused where the primal is expanded.
        copied.copy_(tangent)
    return copied


def check_layout(primal: Tensor, tangent: Tensor) -> None:
    """Refuse a tangent of an expanded primal that cannot lie in memory as the primal does.

    Raises:
        RuntimeError: elements of the primal share memory, and those of the tangent do not.
    """
    from gradtool.engine._ops.core.overlap import check_distinct_elements, repeats

    if isinstance(primal._array, Outline) or not repeats(primal):
        return
    if isinstance(tangent._array, Outline) or not _same_layout(primal, tangent):
        check_distinct_elements(primal)


def _same_layout(primal: Tensor, tangent: Tensor) -> bool:
    if bits(primal) != bits(tangent):
        return False
    one, other = memory(primal), memory(tangent)
    if one.shape != other.shape:
        return False
    batched = isinstance(one, Outline) or isinstance(other, Outline)
    if not batched and _elements(one) != _elements(other):
        return False
    if one.size == 0:
        return True
    return (batched or _offset(one) == _offset(other)) and all(
        step * other.itemsize == their_step * one.itemsize or extent < 2
        for extent, step, their_step in zip(one.shape, one.strides, other.strides)
    )


def _elements(array: Any) -> int:
    """Count the elements of the memory that an array is part of."""
    from gradtool.engine._ops.shape.memory import memory_of

    return 0 if array.size == 0 else int(memory_of(array).size)


def _offset(array: Any) -> int:
    from gradtool.engine._ops.shape.memory import offset_of

    return offset_of(array)


def zeros_in_layout_of(primal: Tensor, tangent: Tensor) -> Tensor:
    """Return zeros laid out in memory as `primal` is, for each example that `tangent` has."""
    from gradtool.device import module_of

    array = memory(primal)
    flat = np.zeros_like(array, shape=max(_elements(array), 1))
    if array.size == 0:
        return wrap(np.zeros_like(array))
    as_strided = module_of(array).lib.stride_tricks.as_strided
    zeros = wrap(as_strided(flat[_offset(array) :], array.shape, array.strides))
    mark(zeros, *bits(primal))
    return for_each_example(tangent, zeros)


# ---- views ----------------------------------------------------------------------------------


def apart_view(primal: Tensor) -> Tensor:
    """Return a view for users to change, which does not take its base along if it becomes dual."""
    view: Tensor = primal.view_as(primal)
    view.__dict__[_APART] = True
    return view


def base_of(x: Any) -> Tensor | None:
    """Return the base that carries the tangent of a view; None for what is no such view."""
    view = x._view
    apart = view is None or _APART in x.__dict__ or _APART in x.__dict__.get("_value", x).__dict__
    return None if apart else view.base


# ---- what a jvp returns ---------------------------------------------------------------------


def check_tangents(
    outputs: Sequence[Any], tangents: Sequence[Any], fixed: Sequence[Tensor] = ()
) -> None:
    """Refuse values from a jvp that are no tangents of the outputs.

    Args:
        outputs: of the forward.
        tangents: that the jvp returned.
        fixed: the outputs that were marked as not differentiable.

    Raises:
        RuntimeError: there are more or fewer, one is no tensor, one is of another shape, or one is
            of an output that has no derivative.
    """
    for position, tangent in enumerate(tangents):
        if tangent is not None and not isinstance(tangent, Tensor):
            raise RuntimeError(
                f"expected Variable or None (got {type(tangent).__name__}) for grad output "
                f"{position}."
            )
    if len(tangents) != len(outputs):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outputs)} but got {len(tangents)})"
        )
    for position, (output, tangent) in enumerate(zip(outputs, tangents)):
        if tangent is None:
            continue
        if not isinstance(output, Tensor) or not _is_differentiable(output, fixed):
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {position}, but  the "
                "corresponding forward output is not a differentiable Tensor.You should return "
                "None at that position instead."
            )


def _is_differentiable(output: Tensor, fixed: Sequence[Tensor]) -> bool:
    return output._array.dtype.kind in "fcV" and not any(output is each for each in fixed)


def check_view(output: Tensor, tangent: Tensor, inputs: Sequence[tuple[Any, Any]]) -> None:
    """Refuse a tangent that is not the view which its output is.

    Args:
        output: of the forward.
        tangent: its tangent.
        inputs: the arguments of the forward with their tangents.

    Raises:
        RuntimeError: the output is a view of an input, and its tangent none of that of the input.
    """
    base = _root(output)
    if output._view is None:
        return
    found = [given for arg, given in inputs if isinstance(arg, Tensor) and _root(arg) is base]
    if not found or found[-1] is None:
        return
    given, words = found[-1], "A custom Function is returning a view but the jvp is not returning"
    if tangent._view is None:
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is "
            "not returning a view."
        )
    if _root(tangent) is not _root(given):
        whose = "given grad input" if given._view is None else "same base as the given grad input"
        raise RuntimeError(f"{words} a view of the {whose}.")


def _root(tensor: Tensor) -> Tensor:
    return tensor if tensor._view is None else tensor._view.base

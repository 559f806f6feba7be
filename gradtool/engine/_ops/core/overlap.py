"""Refusal to write over memory that another operand reads from, in part."""

from __future__ import annotations

from typing import Any

from gradtool.engine._tensor import Tensor, data_pointer, is_dense


def check_overlap(target: Tensor, source: Any) -> None:
    """Refuse a source that has some of the target's memory, but not exactly all of it.

    Where either has gaps or an order of its own there is no telling, and torch does not refuse.

    Raises:
        RuntimeError: the memory of the two overlaps in part.
    """
    if not (
        isinstance(source, Tensor)
        and source is not target
        and target._storage is not None
        and source._storage is target._storage
    ):
        return
    one, other = target._array, source._array
    if not (one.size and other.size and is_dense(one) and is_dense(other)):
        return
    first, start = data_pointer(one), data_pointer(other)
    if first == start and one.nbytes == other.nbytes and _steps(one) == _steps(other):
        return
    if first < start + other.nbytes and start < first + one.nbytes:
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            "refer to a single memory location. Please clone() the tensor before performing the "
            "operation."
        )


def _steps(array: Any) -> list[int]:
    return [step for step, extent in zip(array.strides, array.shape) if extent != 1]

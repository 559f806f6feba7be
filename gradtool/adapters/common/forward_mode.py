"""Tangents pushed forward through a Function's own jvp."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradtool.adapters.common.bound import BoundFunction
from gradtool.adapters.common.vjp import copied
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Array, ChangedByJvp, Primals, Tangents


def jvps(
    bound: BoundFunction, primals: Primals, rows: Sequence[Tangents]
) -> list[tuple[Array | None, ...]]:
    """The tangent of each output for each row; None where an output has none."""
    return [_jvp(bound, primals, row) for row in rows]


def _jvp(bound: BoundFunction, primals: Primals, row: Tangents) -> tuple[Array | None, ...]:
    with library().torch.enable_grad():
        tensors = _handed(bound, primals)
        return _pushed(bound, tensors, _tangents(tensors, row))[1]


def changed(bound: BoundFunction, primals: Primals, row: Tangents) -> ChangedByJvp:
    """What one push changes in place, beside the outputs' tangents.

    Raises what the user's jvp raises.
    """
    with library().torch.enable_grad():
        plain = _handed(bound, primals)
        expected = [copied(output) for output in bound(plain)]
        tensors = _handed(bound, primals)
        tangents = _tangents(tensors, row)
        outputs, _ = _pushed(bound, tensors, tangents)
        return ChangedByJvp(
            tangents=_differing([copied(each) for each in tangents], row),
            arguments=_differing(map(copied, tensors), [copied(each) for each in plain]),
            outputs=_differing(outputs, expected),
        )


def _handed(bound: BoundFunction, primals: Primals) -> list[Any]:
    """No leaves: PyTorch drops the tangent of a leaf that is changed in place."""
    return bound.arguments.tracked(primals)[1]


def _differing(found: Iterable[Array | None], expected: Sequence[Array | None]) -> tuple[int, ...]:
    pairs = enumerate(zip(found, expected, strict=True))
    return tuple([at for at, (one, other) in pairs if not _same(one, other)])


def _same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return True
    return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


def _pushed(
    bound: BoundFunction, tensors: Sequence[Any], tangents: Sequence[Any]
) -> tuple[tuple[Array | None, ...], tuple[Array | None, ...]]:
    """The outputs and their tangents."""
    forward_ad = library().torch.autograd.forward_ad
    with forward_ad.dual_level():
        moving = [
            tensor if tangent is None else forward_ad.make_dual(tensor, tangent)
            for tensor, tangent in zip(tensors, tangents, strict=True)
        ]
        unpacked = [
            (None, None) if output is None else forward_ad.unpack_dual(output)
            for output in bound(moving)
        ]
        return (
            tuple([copied(primal) for primal, _ in unpacked]),
            tuple([copied(tangent) for _, tangent in unpacked]),
        )


def _tangents(tensors: Sequence[Any], row: Tangents) -> list[Any]:
    return [
        None if values is None else _tangent(tensor, values)
        for tensor, values in zip(tensors, row, strict=True)
    ]


def _tangent(tensor: Any, values: Array) -> Any:
    dtype = library().dtype(tensor)
    return library().tensor(np.array(values, dtype=dtype)).to(tensor.device)

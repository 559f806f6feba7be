"""Tangents pushed forward through a Function's own jvp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.gate.adapters.bound import BoundFunction
from gradtool.gate.adapters.library import library
from gradtool.gate.adapters.pulling import copied
from gradtool.verify.examinable import Tangents
from gradtool.verify.protocol import Array, Primals


def jvps(
    bound: BoundFunction, primals: Primals, rows: Sequence[Tangents]
) -> list[tuple[Array | None, ...]]:
    """The tangent of each output for each row; None where an output has none."""
    return [_jvp(bound, primals, row) for row in rows]


def _jvp(bound: BoundFunction, primals: Primals, row: Tangents) -> tuple[Array | None, ...]:
    torch = library().torch
    forward_ad = torch.autograd.forward_ad
    with torch.no_grad(), forward_ad.dual_level():
        tensors = bound.arguments.fresh(primals)
        moving = [
            tensor if values is None else forward_ad.make_dual(tensor, _tangent(tensor, values))
            for tensor, values in zip(tensors, row, strict=True)
        ]
        pushed = [
            None if output is None else forward_ad.unpack_dual(output).tangent
            for output in bound(moving)
        ]
        return tuple([copied(tangent) for tangent in pushed])


def _tangent(tensor: Any, values: Array) -> Any:
    dtype = library().dtype(tensor)
    return library().tensor(np.array(values, dtype=dtype)).to(tensor.device)

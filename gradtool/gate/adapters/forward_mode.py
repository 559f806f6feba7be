"""Tangents pushed forward through a Function's own jvp."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradtool.engine import Tensor, no_grad
from gradtool.engine._levels.dual import DualLevel
from gradtool.engine._tensor import wrap
from gradtool.gate.adapters.bound import BoundFunction
from gradtool.gate.adapters.pulling import copied
from gradtool.verify.examinable import Tangents
from gradtool.verify.protocol import Array, Primals


def jvps(
    bound: BoundFunction, primals: Primals, rows: Sequence[Tangents]
) -> list[tuple[Array | None, ...]]:
    """The tangent of each output for each row; None where an output has none."""
    return [_jvp(bound, primals, row) for row in rows]


def _jvp(bound: BoundFunction, primals: Primals, row: Tangents) -> tuple[Array | None, ...]:
    with no_grad(), DualLevel() as level:
        tensors = bound.arguments.fresh(primals)
        outputs = bound(
            [
                tensor if tangent is None else level.wrap(tensor, _tangent(tensor, tangent))
                for tensor, tangent in zip(tensors, row, strict=True)
            ]
        )
        return tuple([copied(level.tangent_of(output)) for output in outputs])


def _tangent(tensor: Tensor, values: Array) -> Tensor:
    return wrap(np.array(values, dtype=tensor._array.dtype)).to(tensor.device)

"""Cases for primitives that the comparison with PyTorch meets elsewhere, or at chosen points."""

from __future__ import annotations

from typing import Any

from tests.engine.ops.cases.case import OpCase, complex_normal, distinct, normal


def _parts(factors: Any) -> tuple[Any, ...]:
    return tuple(factors)[1:]


CASES = [
    OpCase("contiguous", lambda t, x: x.T.contiguous(), (normal(2, 3),)),
    OpCase(
        "index_copy",
        lambda t, x, s: x.index_copy(0, t.tensor([2, 0]), s),
        (normal(3, 4), normal(2, 4)),
    ),
    OpCase(
        "index_add",
        lambda t, x, s: x.index_add(0, t.tensor([2, 0]), s),
        (normal(3, 4), normal(2, 4)),
    ),
    OpCase("lerp", lambda t, x, y, w: t.lerp(x, y, w), (normal(2, 3),) * 3),
    OpCase("median along", lambda t, x: x.median(dim=1), (distinct(2, 5),)),
    OpCase("matrix_exp", lambda t, x: t.linalg.matrix_exp(x), (normal(2, 3, 3),)),
    OpCase("lu", lambda t, x: _parts(t.linalg.lu(x)), (normal(3, 3),)),
    OpCase(
        "nll_loss, averaged",
        lambda t, x: t.nn.functional.nll_loss(x, t.tensor([2, 0])),
        (normal(2, 3),),
    ),
    OpCase("fft", lambda t, x: t.fft.fft(x), (complex_normal(4),)),
    OpCase("fft of real numbers", lambda t, x: t.fft.fft(x), (normal(2, 5),)),
]

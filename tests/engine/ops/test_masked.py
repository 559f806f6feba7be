"""Reductions and normalizations under a mask do what PyTorch's do."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine
from tests.engine.ops.cases.case import OpCase, exactly, normal, over, positive
from tests.engine.ops.compare import check

pytestmark = pytest.mark.torch

REDUCTIONS = ("sum", "prod", "amax", "amin", "mean", "var", "std", "norm", "logsumexp")
ALONG = ("cumsum", "cumprod", "softmax", "log_softmax", "softmin", "median")


def _mask(t: Any) -> Any:
    return t.tensor([[True, False, True, True], [True, True, False, True], [True] * 4])


CASES: list[OpCase] = [
    *[
        OpCase(f"masked.{name}", lambda t, x, name=name: (
            getattr(t.masked, name)(x, dim=1, mask=_mask(t)),
            getattr(t.masked, name)(x, dim=(0, 1), keepdim=True, mask=_mask(t)[0]),
            getattr(t.masked, name)(x),
        ), (normal(3, 4),), tolerance=1e-10)
        for name in REDUCTIONS
    ],
    *[
        OpCase(f"masked.{name}", lambda t, x, name=name: (
            getattr(t.masked, name)(x, 1, mask=_mask(t)), getattr(t.masked, name)(x, -2),
        ), (normal(3, 4),))
        for name in ALONG
    ],
    *over("masked.normalize", lambda t, x: t.masked.normalize(x, 2.0, 1, mask=_mask(t)),
          [(normal(3, 4),)]),
    OpCase("masked.argmax", lambda t, x: (
        t.masked.argmax(x, 1, mask=_mask(t)), t.masked.argmin(x, mask=_mask(t)),
    ), (normal(3, 4),)),
    OpCase("masked out altogether", lambda t, x: tuple(
        getattr(t.masked, name)(x, dim=0, mask=t.zeros(2, dtype=t.bool))
        for name in ("sum", "prod", "amax", "amin")
    ), (exactly([1.0, 2.0]),)),
    OpCase("masked.logaddexp", lambda t, x, y: t.masked.logaddexp(x, y, input_mask=_mask(t)),
           (positive(3, 4), positive(3, 4)), second_order=False),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_agrees_with_torch(case: OpCase) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    check(case, engine, torch)

"""Every operation does what PyTorch's does: value, dtype, first and second-order gradients."""

from __future__ import annotations

import pytest

import gradtool.engine as engine
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.compare import check

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings(r"ignore:torch\.\w+ is deprecated:UserWarning"),
]

CASES = [
    pytest.param(case, id=f"{family}: {case.id}")
    for family, cases in FAMILIES.items()
    for case in cases
]


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_torch(case: OpCase) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    check(case, engine, torch)

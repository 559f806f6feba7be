"""Every operation, under forward mode and vmap, does what PyTorch's does."""

from __future__ import annotations

import pytest

import gradtool.engine as engine
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.transforms import check_batch, check_forward

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
def test_pushes_tangents_as_torch_does(case: OpCase) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    if case.not_pushed:
        pytest.skip(case.not_pushed)
    check_forward(case, engine, torch)


@pytest.mark.parametrize("case", CASES)
def test_batches_what_torch_does_one_by_one(case: OpCase) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    if case.not_batched or not case.args:
        pytest.skip(case.not_batched or "takes no tensor")
    check_batch(case, engine, torch)

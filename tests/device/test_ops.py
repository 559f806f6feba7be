"""Every operation runs on arrays that are as particular as CuPy's, and gives what NumPy gives.

No device takes part, so this says nothing of what a GPU computes: it proves that what the op
table calls is there in CuPy, with the arguments used, for the dtypes used; that no array
strays between host and device; and that no index is left to CuPy, which wraps it silently.
"""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine
from tests.device.check_case import ABOUT_THE_DEVICE, check_on_cuda
from tests.device.on_cuda import OnCuda
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.transforms import check_batch, check_forward

CASES = [
    pytest.param(case, id=f"{family}: {case.id}")
    for family, cases in FAMILIES.items()
    for case in cases
    if case.name not in ABOUT_THE_DEVICE
]


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients(cupy: Any, case: OpCase) -> None:
    check_on_cuda(case)


@pytest.mark.parametrize("case", CASES)
def test_forward_mode(cupy: Any, case: OpCase) -> None:
    if case.not_pushed:
        pytest.skip(case.not_pushed)
    check_forward(case, OnCuda(), engine)


@pytest.mark.parametrize("case", CASES)
def test_batches(cupy: Any, case: OpCase) -> None:
    if case.not_batched or not case.args:
        pytest.skip(case.not_batched or "takes no tensor")
    check_batch(case, OnCuda(), engine)

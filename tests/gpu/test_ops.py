"""Every operation gives on a GPU what it gives on the CPU: in value, gradient, tangent, batch."""

from __future__ import annotations

import dataclasses

import pytest

import gradtool.engine as engine
from gradtool.device import CUDA
from tests.device.check_case import ABOUT_THE_DEVICE, check_on_cuda
from tests.device.on_cuda import OnCuda
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.transforms import check_batch, check_forward

LOOSER = 100.0
"""A GPU adds up in another order, and its functions are rounded otherwise than a CPU's."""

NONE = [pytest.param(None, id="every operation")]
"""One skip that stands for all where there is no device."""

CASES = [
    pytest.param(case, id=f"{family}: {case.id}")
    for family, cases in FAMILIES.items()
    for case in cases
    if case.name not in ABOUT_THE_DEVICE and CUDA.count()
] or NONE


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients(case: OpCase) -> None:
    check_on_cuda(case, tolerance=LOOSER * case.tolerance)


@pytest.mark.parametrize("case", CASES)
def test_forward_mode(case: OpCase) -> None:
    if case.not_pushed:
        pytest.skip(case.not_pushed)
    check_forward(_looser(case), OnCuda(), engine)


@pytest.mark.parametrize("case", CASES)
def test_batches(case: OpCase) -> None:
    if case.not_batched or not case.args:
        pytest.skip(case.not_batched or "takes no tensor")
    check_batch(_looser(case), OnCuda(), engine)


def _looser(case: OpCase) -> OpCase:
    return dataclasses.replace(case, tolerance=LOOSER * case.tolerance)

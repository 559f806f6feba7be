"""Every operation runs on arrays that are as particular as CuPy's, and gives what NumPy gives.

No device takes part, so this says nothing of what a GPU computes: it proves that what the op
table calls is there in CuPy, with the arguments used, for the dtypes used; that no array
strays between host and device; and that no index is left to CuPy, which wraps it silently.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.device.check_case import ABOUT_THE_DEVICE, check_on_cuda
from tests.engine.ops.case import OpCase
from tests.engine.ops.families import FAMILIES

CASES = [
    pytest.param(case, id=f"{family}: {case.id}")
    for family, cases in FAMILIES.items()
    for case in cases
    if case.name not in ABOUT_THE_DEVICE
]


@pytest.mark.parametrize("case", CASES)
def test_operation(cupy: Any, case: OpCase) -> None:
    check_on_cuda(case)

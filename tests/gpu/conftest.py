"""Every test here needs a CUDA device and CuPy, and says so where one is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.device import CUDA
from gradtool.transfer.machines.cuda.machine import SIMULATED

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = CUDA.why_unavailable()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.gpu)
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=f"needs a CUDA device: {reason}"))


@pytest.fixture
def real_device() -> None:
    """Skip a test about times where the device is simulated: they say nothing."""
    if CUDA.properties(0).name.startswith(SIMULATED):
        pytest.skip("the times of a simulated device say nothing")

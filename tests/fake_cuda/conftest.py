"""Every test here needs the fake CUDA, and says how to get it where it is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.device import CUDA
from gradtool.transfer.machines.cuda.machine import SIMULATED

HERE = Path(__file__).parent

HOW = "needs the fake CUDA: python -m tests.fake_cuda.build FOLDER, then PYTHONPATH=FOLDER"


def is_fake() -> bool:
    """Return True if CuPy runs on the runtime of this folder."""
    return bool(CUDA.count()) and CUDA.properties(0).name.startswith(SIMULATED)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if HERE in item.path.parents]
    if here and not is_fake():
        for item in here:
            item.add_marker(pytest.mark.skip(reason=HOW))

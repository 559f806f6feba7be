"""A stand-in for CuPy and a device, so that what is done for CUDA runs everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gradtool.engine._ops.elementwise import special as _special_library
from tests.device.fake_cupy import install


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A stand-in for CuPy, found by ``import cupy``."""
    _special_library._library_of.cache_clear()
    yield install(monkeypatch)
    _special_library._library_of.cache_clear()

"""An environment without SciPy, whether it is installed or not."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from gradtool.engine._ops.elementwise import special as _special_library


@pytest.fixture
def no_scipy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    _special_library._library_of.cache_clear()
    yield
    _special_library._library_of.cache_clear()

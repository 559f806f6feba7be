"""Settings that are accepted for PyTorch's sake tell what they were given, and refuse the rest."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine


@pytest.fixture(params=["engine", pytest.param("torch", marks=pytest.mark.torch)])
def t(request: Any) -> Any:
    if request.param == "engine":
        return engine
    return pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")


def test_the_precision_of_products_is_remembered(t: Any) -> None:
    before = t.get_float32_matmul_precision()
    t.set_float32_matmul_precision("high")
    assert t.get_float32_matmul_precision() == "high"
    t.set_float32_matmul_precision(before)
    assert t.get_float32_matmul_precision() == before == "highest"


def test_asserting_raises_what_the_statement_does(t: Any) -> None:
    t._assert(t.ones(1) > 0, "positive")
    with pytest.raises(AssertionError, match="not negative"):
        t._assert(False, "not negative")

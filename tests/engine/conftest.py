"""Runs every test that takes `torch` on the bundled engine and, where it is installed, on PyTorch.

A test that holds on both states a fact of PyTorch, and that the engine shares it.
"""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(params=["bundled", pytest.param("pytorch", marks=pytest.mark.torch)])
def torch(request: pytest.FixtureRequest) -> Any:
    if request.param == "bundled":
        import gradtool.engine

        return gradtool.engine
    return pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")

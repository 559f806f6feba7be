"""Names that PyTorch has removed raise, and name what is there in their place."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine


@pytest.mark.torch
@pytest.mark.parametrize("name", ["eig", "lstsq", "matrix_rank", "solve", "symeig"])
def test_removed_functions_raise_as_those_of_torch_do(name: str) -> None:
    def said(torch: Any) -> str:
        matrices = [torch.eye(3)] * (1 + (name in ("lstsq", "solve")))
        with pytest.raises(RuntimeError) as refusal:
            getattr(torch, name)(*matrices)
        return str(refusal.value)

    ending = "was deprecated since version 1.9 and is now removed."
    for library in (engine, pytest.importorskip("torch")):
        assert ending in said(library)
    assert f"torch.linalg.{'eigh' if name == 'symeig' else name}" in said(engine)


def test_removed_methods_raise() -> None:
    with pytest.raises(RuntimeError, match=r"Tensor.solve was deprecated"):
        engine.eye(3).solve(engine.eye(3))

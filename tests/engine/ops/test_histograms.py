"""Histograms, hashes and joined chunks, next to PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

PLANE = [[0.0, 1], [1, 0], [2, 0], [2, 2]]
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "so many bins": lambda t, x: t.histogram(x, 3),
    "a range": lambda t, x: t.histogram(x, bins=4, range=(0.0, 3.0)),
    "edges": lambda t, x: x.histogram(t.tensor([0.0, 1, 2, 4])),
    "weights and density": lambda t, x: t.histogram(x, 3, weight=x, density=True),
    "nothing": lambda t, x: t.histogram(x[:0], 2),
    "one value": lambda t, x: t.histogram(t.ones(3), 2),
    "integers": lambda t, x: t.histogram(x.long(), 2),
    "no bins": lambda t, x: t.histogram(x, 0),
    "a range that is reversed": lambda t, x: t.histogram(x, 2, range=(3.0, 1.0)),
    "too few weights": lambda t, x: t.histogram(x, 2, weight=t.ones(2)),
    "weights of another dtype": lambda t, x: t.histogram(x, 2, weight=x.double()),
    "a plane": lambda t, x: t.histogramdd(t.tensor(PLANE), [2, 3]),
    "the density of a plane": lambda t, x: t.histogramdd(
        t.tensor(PLANE), 2, range=[0.0, 1, 0, 1], weight=t.arange(4.0), density=True
    ),
    "edges of a plane": lambda t, x: t.histogramdd(
        t.tensor(PLANE), (t.tensor([0.0, 1, 3]), t.tensor([0.0, 2]))
    ),
    "one dimension": lambda t, x: t.histogramdd(x, [2]),
    "the hash of all": lambda t, x: t.hash_tensor(x),
    "the hash of rows": lambda t, x: t.hash_tensor(t.tensor(PLANE).long(), 1, keepdim=True),
    "chunks": lambda t, x: t._chunk_cat([x, x[:4]], 0, 2),
    "two types of matrices": lambda t, x: t.ones(2, 2) @ t.ones(2, 2).double(),
}


def outcome(t: Any, call: Callable[[Any, Any], Any]) -> str:
    x = t.from_numpy(np.array([1, 2, 1, 0.3, -2, 5.5, 2.2], np.float32))
    try:
        return repr(call(t, x))
    except (RuntimeError, NotImplementedError) as error:
        return str(error)


@pytest.mark.torch
@pytest.mark.parametrize("name", CALLS)
def test_agrees_with_torch_to_the_letter(name: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert outcome(engine, CALLS[name]) == outcome(torch, CALLS[name])

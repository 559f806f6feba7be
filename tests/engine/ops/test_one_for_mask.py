"""``x[mask] = value`` where the value is one element: of any dtype and shape, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as engine

Call = Callable[[Any, Any], Any]


def mask(t: Any) -> Any:
    return t.tensor([True, False, True])


KEYS: dict[str, Call] = {
    "mask of rows": lambda t, x: mask(t),
    "mask and integer": lambda t, x: (mask(t), 0),
    "mask behind a slice": lambda t, x: (slice(None), t.tensor([True, False])),
    "mask of all": lambda t, x: x == 0,
    "mask of nothing": lambda t, x: x > 1,
    "positions": lambda t, x: t.tensor([0, 1]),
    "mask and positions": lambda t, x: (mask(t), t.tensor([0, 1])),
    "0-d mask": lambda t, x: t.tensor(True),
}
VALUES: dict[str, Callable[[Any], Any]] = {
    "double": lambda t: t.tensor([5.0], dtype=t.float64),
    "integer": lambda t: t.tensor([5]),
    "more dimensions": lambda t: t.tensor([[[5.0]]]),
    "complex": lambda t: t.tensor([5j]),
    "two of another dtype": lambda t: t.tensor([5, 6]),
    "one that requires a gradient": lambda t: t.tensor([5.0], dtype=t.float64, requires_grad=True),
}


def assigned(t: Any, key: str, value: str) -> Any:
    """What is in the tensor then, and the value's gradient; or that it was refused."""
    x, given = t.zeros(3, 2), VALUES[value](t)
    try:
        x[KEYS[key](t, x)] = given
    except (RuntimeError, IndexError):
        return "refused"
    if not x.requires_grad:
        return x.tolist(), None
    (x * x).sum().backward()
    return x.tolist(), given.grad.tolist()


@pytest.mark.torch
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("key", KEYS)
def test_does_what_torch_does(key: str, value: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert assigned(engine, key, value) == assigned(torch, key, value)


def test_index_put_takes_one_element_of_another_dtype_for_a_mask() -> None:
    x = engine.zeros(3)
    found = x.index_put((mask(engine),), engine.tensor([2]))
    assert found.tolist() == [2.0, 0.0, 2.0]

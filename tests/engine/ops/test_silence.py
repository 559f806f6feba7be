"""Infinities and NaNs are computed without warnings, and NumPy's own warnings stay as they were.

Every warning is an error in these tests, so an operation that warned would fail here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as t
from gradtool.engine._ops.core import fp_warnings

inf = math.inf

LOUD: dict[str, Callable[[], Any]] = {
    "inf * 0": lambda: t.tensor([inf]) * t.tensor([0.0]),
    "inf * number": lambda: t.tensor([inf]) * 0,
    "inf - inf": lambda: t.tensor([inf]) - t.tensor([inf]),
    "overflow": lambda: t.tensor([1e300], dtype=t.float64) * 1e300,
    "1 / 0": lambda: t.tensor([1.0]) / 0,
    "0 / 0": lambda: t.tensor([0.0]) / t.tensor([0.0]),
    "1 // 0": lambda: t.tensor([1.0]) // 0,
    "1 % 0": lambda: t.tensor([1.0]) % 0,
    "log 0": lambda: t.tensor([0.0]).log(),
    "sqrt -1": lambda: t.tensor([-1.0]).sqrt(),
    "exp 1000": lambda: t.tensor([1000.0]).exp(),
    "sin inf": lambda: t.tensor([inf]).sin(),
    "0 ** -1": lambda: t.tensor([0.0]) ** -1,
    "-1 ** 0.5": lambda: t.tensor([-1.0]) ** t.tensor([0.5]),
    "mean of nothing": lambda: t.zeros(0).mean(),
    "sum of infinities": lambda: t.tensor([inf, -inf]).sum(),
    "prod overflow": lambda: t.tensor([1e30, 1e30]).prod(),
    "norm overflow": lambda: t.tensor([1e30, 1e30]).norm(),
    "softmax of infinities": lambda: t.tensor([-inf, -inf]).softmax(0),
    "logsumexp of infinities": lambda: t.tensor([-inf, -inf]).logsumexp(0),
    "too large for the dtype": lambda: t.tensor([1.0], dtype=t.float16) + 1e30,
}


@pytest.mark.parametrize("name", LOUD)
def test_no_operation_warns(name: str) -> None:
    assert not t.isfinite(LOUD[name]()).any() or name.startswith("1 //")


def test_no_gradient_warns() -> None:
    x = t.tensor([0.0, inf, -1.0, 1e300], dtype=t.float64, requires_grad=True)
    y = (x.sqrt() + x.log() * x / x + x**0.5 * 1e300 + x.exp()).sum()
    (first,) = t.autograd.grad(y, x, create_graph=True)
    t.autograd.grad(first.sum(), x)


def test_numpy_still_warns_its_user() -> None:
    t.tensor([1.0]) / 0
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.log(np.zeros(1))


def test_silent_where_numpy_keeps_its_state_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fp_warnings, "_state", None)
    assert fp_warnings.ignore_fp_warnings(np.log)(np.zeros(1)) == -inf


def test_an_exception_leaves_the_state_as_it_was() -> None:
    def fails(x: Any) -> Any:
        raise ValueError("no")

    before = np.geterr()
    with pytest.raises(ValueError, match="no"):
        fp_warnings.ignore_fp_warnings(fails)(np.zeros(1))
    assert np.geterr() == before

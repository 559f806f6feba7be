"""Branches as functions are those of Python, and are differentiated like them."""

from __future__ import annotations

import pytest

import gradtool.engine as torch


@pytest.mark.parametrize(("number", "slope"), [(2.0, 4.0), (-2.0, -1.0)])
def test_the_branch_that_the_condition_chooses_is_called(number: float, slope: float) -> None:
    x = torch.tensor(number, requires_grad=True)
    torch.cond(x > 0, lambda t: t * t, lambda t: -t, (x,)).backward()
    assert x.grad is not None
    assert x.grad.item() == slope


def test_a_condition_of_python_chooses_too() -> None:
    assert torch.cond(False, lambda: 1, lambda: 2) == 2

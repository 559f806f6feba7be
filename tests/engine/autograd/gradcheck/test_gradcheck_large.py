"""gradcheck of large Jacobians, which few evaluations show to be right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool.adapters.gradcheck.witnessed import LEAST_ENTRIES
from gradtool.engine.autograd import GradcheckError, gradcheck

SIDE = 300
"""Elements of the input, and of the output."""

FEW = 30
"""Calls that are few, beside those of all entries: two for each element of the input."""

assert SIDE**2 >= LEAST_ENTRIES


def inputs() -> tuple[Any]:
    generator = torch.Generator().manual_seed(3)
    return (torch.randn(SIDE, dtype=torch.double, generator=generator).requires_grad_(),)


def counted(
    forward: Callable[[Any], Any], backward: Callable[[Any, Any], Any]
) -> tuple[Callable[[Any], Any], list[str]]:
    """A function with such a backward, and the calls made to it."""
    calls: list[str] = []

    class Counted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            calls.append("forward")
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            calls.append("backward")
            return backward(g, ctx.saved_tensors[0])

    return Counted.apply, calls


def test_a_right_gradient_takes_few_calls() -> None:
    func, calls = counted(torch.exp, lambda g, x: g * x.exp())
    assert gradcheck(func, inputs())
    assert len(calls) < FEW


def test_one_wrong_entry_is_found_and_named() -> None:
    def backward(g: Any, x: Any) -> Any:
        out = g * x.exp()
        out[123] *= 1.001
        return out

    func, _ = counted(torch.exp, backward)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0"):
        gradcheck(func, inputs(), rtol=1e-6)


def test_an_error_within_the_tolerance_is_accepted_after_a_look_at_all_entries() -> None:
    func, calls = counted(torch.exp, lambda g, x: g * x.exp() * (1 + 1e-7))
    assert gradcheck(func, inputs())
    assert len(calls) > FEW


def test_a_forward_that_leaves_the_engine_is_checked_by_all_entries() -> None:
    func, calls = counted(
        lambda x: torch.from_numpy(np.exp(x.detach().numpy())), lambda g, x: g * x.exp()
    )
    assert gradcheck(func, inputs())
    assert len(calls) > FEW


def test_a_kink_is_refused_as_in_small_jacobians() -> None:
    func, _ = counted(torch.relu, lambda g, x: g * (x > 0))
    (x,) = inputs()
    with torch.no_grad():
        x[7] = 0.0
    assert not gradcheck(func, (x,), raise_exception=False)


def test_a_backward_that_squares_its_cotangent_is_found() -> None:
    func, _ = counted(torch.exp, lambda g, x: g * g * x.exp())
    assert not gradcheck(func, inputs(), raise_exception=False)


def test_runs_that_differ_are_found() -> None:
    noise = iter(range(10**6))
    func, _ = counted(torch.exp, lambda g, x: g * x.exp() * (1 + 1e-13 * next(noise)))
    with pytest.raises(GradcheckError, match="not reentrant"):
        gradcheck(func, inputs())

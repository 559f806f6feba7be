"""Verdicts do not depend on the units of the inputs: none is waved through for being small."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.subject import Subject

UNITS = (1e-100, 1e-6, 1e6, 1e100)
VALUES = np.array([0.4, 1.3, 2.2])


def subject(
    forward: Callable[[Any], Any],
    gradient: Callable[[Any, Any], Any],
    values: Any,
    *,
    witness: bool,
) -> Subject:
    class Pointwise(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return gradient(g, x)

    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    return Subject(FunctionDifferentiable(Pointwise, [x], {}, name="Pointwise"), witness=witness)


def logarithm(x: Any) -> Any:
    return torch.log(x)


@pytest.mark.parametrize("witness", [True, False])
@pytest.mark.parametrize("unit", UNITS)
def test_a_wrong_second_derivative_fails_in_any_unit(unit: float, witness: bool) -> None:
    def sine(x: Any) -> Any:
        return torch.sin(x / unit)

    def right(g: Any, x: Any) -> Any:
        return g * torch.cos(x / unit) / unit

    def detached(g: Any, x: Any) -> Any:
        return g * torch.cos(x.detach() / unit) / unit

    def halved(g: Any, x: Any) -> Any:
        return g / (x.detach() * x).sqrt()

    def by(gradient: Any, forward: Any = sine) -> Decision:
        found = subject(forward, gradient, unit * VALUES, witness=witness)
        assert found.given.worst is Decision.PASS
        return found.curvature.worst

    assert by(right) is Decision.PASS
    assert by(detached) is Decision.FAIL
    assert by(lambda g, x: g / x, logarithm) is Decision.PASS
    assert by(halved, logarithm) is Decision.FAIL


def test_the_witness_knows_second_derivatives_of_next_to_nothing() -> None:
    found = subject(logarithm, lambda g, x: g / x, 3e100 * VALUES, witness=True)
    assert found.curvature.worst is Decision.PASS
    exact = found.curvature.comparisons[0].exact
    assert exact is not None
    assert 1e-203 < np.abs(exact).max() < 1e-200


@pytest.mark.parametrize("unit", [1e-100, 1e100])
@pytest.mark.parametrize("witness", [True, False])
def test_an_entry_far_smaller_than_its_neighbours_is_resolved(unit: float, witness: bool) -> None:
    units = torch.tensor([1.0, 1 / unit, 1.0], dtype=torch.float64)

    def judged(factor: float) -> Decision:
        def gradient(g: Any, x: Any) -> Any:
            return factor * g * units * torch.cos(x * units)

        values = VALUES * [1.0, unit, 1.0]
        return subject(
            lambda x: torch.sin(x * units), gradient, values, witness=witness
        ).given.worst

    assert judged(1.0) is Decision.PASS
    assert judged(2.0) is Decision.FAIL


@pytest.mark.parametrize("unit", [1.0, 1e100])
def test_what_a_constant_hides_is_not_verified_for_being_small(unit: float) -> None:
    def wrong(g: Any, x: Any) -> Any:
        return g * torch.sin(x / unit) / unit

    found = subject(lambda x: 1e14 + torch.sin(x / unit), wrong, [0.3 * unit], witness=False)
    assert found.given.worst is Decision.UNVERIFIED


DWARFED = np.array([3e200, 1e-180, 1.0])


def length(x: Any) -> Any:
    """The length of (x, 4/3 x), which has a kink at zero."""
    return x.abs() * (x / x + (4 * x / (3 * x)) ** 2).sqrt()


@pytest.mark.parametrize("witness", [True, False])
def test_an_entry_far_below_its_neighbours_is_sampled_at_its_own_size(witness: bool) -> None:
    right = subject(length, lambda g, x: g * x.sign() * 5 / 3, DWARFED, witness=witness)
    assert not right.given.is_nearby
    assert right.given.worst is Decision.PASS
    assert right.cost.forward < 300


@pytest.mark.parametrize("witness", [True, False])
@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0])
def test_a_wrong_entry_far_below_its_neighbours_does_not_pass(factor: float, witness: bool) -> None:
    wrong = subject(length, lambda g, x: factor * g * x.sign() * 5 / 3, DWARFED, witness=witness)
    assert wrong.given.worst is Decision.FAIL

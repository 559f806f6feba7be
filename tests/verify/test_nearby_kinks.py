"""Kinks so near that only the witness can tell on which side of them the point is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as torch
from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.subject import Subject


def judged(
    forward: Callable[[Any], Any], slope: Callable[[Any], Any], values: Any, **options: Any
) -> Decision:
    class Pointwise(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * slope(x)

    x = torch.tensor(np.asarray(values, dtype=np.float64), requires_grad=True)
    function = FunctionDifferentiable(Pointwise, [x], {}, name="Pointwise")
    return Subject(function, **options).given.worst


def absolute(x: Any) -> Any:
    return x.abs()


def damped(x: Any) -> Any:
    return x.abs() * x.exp()


def slope_of_damped(x: Any, sign: Any) -> Any:
    return (sign + x.abs()) * x.exp()


def flipped_next_to_zero(x: Any) -> Any:
    return slope_of_damped(x, torch.where(x.abs() < 1e-12, -x.sign(), x.sign()))


def nothing_next_to_zero(x: Any) -> Any:
    return slope_of_damped(x, torch.where(x.abs() < 1e-12, 0 * x, x.sign()))


NEAR = [7e-15, -7e-15, 2.0, -1.0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("wrong", [flipped_next_to_zero, nothing_next_to_zero])
def test_the_witness_convicts_where_evaluations_see_only_a_kink(wrong: Any, seed: int) -> None:
    right = judged(damped, lambda x: slope_of_damped(x, x.sign()), NEAR, seed=seed)
    assert right is Decision.PASS
    assert judged(damped, wrong, NEAR, seed=seed) is Decision.FAIL


def test_evaluations_alone_do_not_convict_there() -> None:
    alone = judged(damped, flipped_next_to_zero, NEAR, seed=1, witness=False)
    assert alone is not Decision.FAIL


@pytest.mark.parametrize("at_zero", [0.0, 1.0, -1.0, 0.3])
def test_any_subgradient_passes_at_a_tie(at_zero: float) -> None:
    def slope(x: Any) -> Any:
        return torch.where(x == 0, torch.full_like(x, at_zero), x.sign())

    assert judged(absolute, slope, [0.0, 0.0, 1.0]) is not Decision.FAIL
    assert judged(absolute, slope, [0.0]) is not Decision.FAIL


def test_what_no_side_has_fails_at_a_tie() -> None:
    def slope(x: Any) -> Any:
        return torch.where(x == 0, torch.full_like(x, 1.5), x.sign())

    assert judged(absolute, slope, [0.0]) is Decision.FAIL


@pytest.mark.parametrize("side", [torch.ge, torch.gt])
def test_numbers_that_differ_by_a_rounding_are_a_tie(side: Any) -> None:
    def forward(x: Any) -> Any:
        return torch.maximum(x + 0.2, 3 * x)

    def slope(x: Any) -> Any:
        return torch.where(side(0.2, 2 * x), torch.ones_like(x), 3 * torch.ones_like(x))

    assert judged(forward, slope, [0.1, 0.1]) is not Decision.FAIL


@pytest.mark.parametrize("at_zero", [0.0, 1.0])
def test_a_kink_that_the_record_does_not_have_is_left_to_evaluations(at_zero: float) -> None:
    def forward(x: Any) -> Any:
        return x.sin() + torch.from_numpy(np.maximum(x.detach().numpy(), 0.0))

    def slope(x: Any) -> Any:
        step = torch.where(x.abs() < 1e-9, torch.full_like(x, at_zero), (x > 0).to(x.dtype))
        return x.cos() + step

    assert judged(forward, slope, [1e-14, 1.0, -1.0]) is not Decision.FAIL

"""The derivative of the recorded forward, and what it is believed for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtool.engine as torch
from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.examine import outcomes_for
from gradtool.verify.rules import RULES
from gradtool.verify.subject import Subject


def function(
    forward: Callable[[Any], Any], slope: Callable[[Any], Any]
) -> type[torch.autograd.Function]:
    class Pointwise(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * slope(x)

    return Pointwise


def subject(forward: Any, slope: Any, values: Any, **options: Any) -> Subject:
    x = torch.tensor(np.asarray(values, dtype=np.float64), requires_grad=True)
    differentiable = FunctionDifferentiable(function(forward, slope), [x], {}, name="Pointwise")
    return Subject(differentiable, **options)


def sine(x: Any) -> Any:
    return x.sin()


def cosine(x: Any) -> Any:
    return x.cos()


def with_one_wrong_entry(x: Any) -> Any:
    right = x.cos()
    right[1234] *= 1 + 1e-4
    return right


def through_numpy(x: Any) -> Any:
    return x.sin() + torch.from_numpy(np.square(x.detach().numpy()))


SPREAD = np.linspace(0.1, 1.0, 20_000)


def test_a_pass_costs_the_same_at_any_size() -> None:
    for count in (20, 20_000):
        found = subject(sine, cosine, SPREAD[:count])
        assert found.given.worst is Decision.PASS
        assert found.given.comparisons[0].exact is not None
        assert found.cost.forward + found.cost.backward <= 10


def test_all_rules_together_share_what_they_run() -> None:
    found = subject(sine, cosine, SPREAD)
    outcomes, _ = outcomes_for(found, codes=sorted(RULES))
    assert not [each.rule.code for each in outcomes if each.flaws]
    assert found.cost.forward + found.cost.backward <= 76


def test_one_wrong_entry_among_thousands_shows() -> None:
    found = subject(sine, with_one_wrong_entry, SPREAD)
    assert found.given.worst is Decision.FAIL


def test_a_path_that_the_record_loses_too_is_seen_by_evaluations() -> None:
    found = subject(through_numpy, cosine, SPREAD[:9])
    assert found.given.worst is Decision.FAIL
    assert found.given.comparisons[0].exact is None


def test_without_a_witness_evaluations_decide() -> None:
    found = subject(sine, cosine, SPREAD[:9], witness=False)
    assert found.given.worst is Decision.PASS
    assert found.given.comparisons[0].exact is None


def test_what_evaluations_cannot_resolve_is_settled_for_a_right_gradient_only() -> None:
    def hidden(x: Any) -> Any:
        return 1e14 + x.sin()

    assert subject(hidden, cosine, [0.3]).given.worst is Decision.PASS
    assert subject(hidden, cosine, [0.3], witness=False).given.worst is Decision.UNVERIFIED
    assert subject(hidden, sine, [0.3]).given.worst is Decision.UNVERIFIED


def test_a_kink_is_compared_entry_by_entry() -> None:
    found = subject(lambda x: x.abs(), lambda x: x.sign(), [0.0, 1.0])
    assert found.first.layout.functionals is None


def test_the_second_order_is_recorded_too() -> None:
    found = subject(sine, cosine, SPREAD[:9])
    assert found.curvature.worst is Decision.PASS
    assert all(each.exact is not None for each in found.curvature.comparisons)


def test_a_forward_that_cannot_be_recorded_leaves_it_to_evaluations() -> None:
    def refuses(x: Any) -> Any:
        if x.sin().requires_grad:
            raise ValueError
        return x.sin()

    found = subject(refuses, cosine, SPREAD[:9])
    assert found.given.worst is Decision.PASS
    assert found.first.witness is not None
    assert "forward cannot be recorded" in (found.first.witness.silence or "")


def test_a_gradient_of_zeros_is_that_of_an_input_that_forward_does_not_read() -> None:
    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, unread: Any) -> Any:
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * x.cos(), torch.zeros_like(x)

    inputs = [torch.tensor([0.3, 0.8], dtype=torch.double, requires_grad=True) for _ in range(2)]
    found = Subject(FunctionDifferentiable(First, inputs, {}, name="First"))
    assert found.curvature.worst is Decision.PASS
    assert all(each.exact is not None for each in found.curvature.comparisons)

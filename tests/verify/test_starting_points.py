"""GT106 asks for no gradient of what an iteration starts from, but for that of any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradtool.engine import exp, float64, sin, tensor
from gradtool.engine.autograd import Function
from gradtool.engine.autograd.function import once_differentiable
from gradtool.results.report import Report
from gradtool.testing import check

START = tensor([0.3, -1.2, 2.0], dtype=float64, requires_grad=True)
GIVEN = tensor([0.5, 1.5, -0.7], dtype=float64, requires_grad=True)


class SolveCube(Function):
    """Solve u³ + u = b for u by Newton's method, to a tolerance."""

    steps = 50

    @staticmethod
    def forward(ctx: Any, start: Any, b: Any) -> Any:
        u = start.detach().clone()
        for _ in range(SolveCube.steps):
            rest = u**3 + u - b
            if rest.norm() < 1e-5:
                break
            u = u - rest / (3 * u**2 + 1)
        ctx.save_for_backward(u)
        return u

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        (u,) = ctx.saved_tensors
        return None, grad / (3 * u**2 + 1)


class AddsSome(Function):
    """x and very little of a function of y, whose gradient is missing."""

    function: Callable[[Any], Any]

    @staticmethod
    def forward(ctx: Any, y: Any, x: Any) -> Any:
        return x + 1e-6 * AddsSome.function(y)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, grad


def rules_of(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings()}


def test_an_iteration_that_converged_has_no_derivative_in_its_start() -> None:
    report = check(SolveCube, [(START, GIVEN)], select=["GT106"])
    assert not rules_of(report)
    (gt106,) = [each for each in report.checks() if each.rule == "GT106"]
    assert gt106.reason == "only what an iteration leaves depends on start"


def test_one_that_stops_before_it_converges_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SolveCube, "steps", 3)
    assert rules_of(check(SolveCube, [(START, GIVEN)], select=["GT106"])) == {"GT106"}


@pytest.mark.parametrize(
    "function", [lambda y: y, lambda y: sin(y * y), lambda y: exp(3 * y), lambda y: y**3]
)
def test_so_has_what_is_added_with_a_small_factor(
    function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AddsSome, "function", staticmethod(function), raising=False)
    assert rules_of(check(AddsSome, [(START, GIVEN)], select=["GT106"])) == {"GT106"}

"""Backwards that break for empty tensors: blamed where the empty result means something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine.autograd import Function
from gradtool.results.report import Severity
from gradtool.testing import check


def made(forward: Callable[..., Any], backward: Callable[..., Any]) -> type[Function]:
    class Made(Function):
        @staticmethod
        def forward(ctx: Any, *tensors: Any) -> Any:
            ctx.save_for_backward(*tensors)
            return forward(*tensors)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return backward(g, *ctx.saved_tensors)

    return Made


def found(function: type[Function], *shapes: tuple[int, ...]) -> list[Severity]:
    torch.manual_seed(0)  # By chance, the first slice may be the largest of all.
    case = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    report = check(function, [tuple(case)], select=["GT101", "GT113"])
    assert {finding.rule for finding in report.findings()} <= {"GT113"}
    return [finding.severity for finding in report.findings()]


DOUBLE = made(lambda x: 2 * x, lambda g, x: g * 2 * (len(x) / len(x)))
PRODUCT = made(lambda x, w: x @ w, lambda g, x, w: (g @ w.T, x.T @ g * (len(x) / len(x))))
SCALED = made(lambda x, w: x * w, lambda g, x, w: (g * w, (g * x).sum(0, keepdim=True) + 0 * x[0]))
OUTER = made(
    lambda x, y: x * y,
    lambda g, x, y: ((g * y).sum(0), (g * x).sum(1)[:, None] * (len(x) / len(x))),
)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (DOUBLE, [(4, 3)]),
        (DOUBLE, [(1, 3)]),
        (PRODUCT, [(5, 3), (3, 4)]),
        (PRODUCT, [(3, 3), (3, 3)]),
        (SCALED, [(4, 3), (1, 3)]),
        (OUTER, [(4,), (4, 1)]),
    ],
)
def test_an_empty_batch_that_breaks_backward_is_an_error(function: Any, shapes: Any) -> None:
    assert found(function, *shapes) == [Severity.ERROR]


def test_a_sum_over_nothing_is_only_worth_a_note() -> None:
    function = made(lambda x: (x * x).sum(0), lambda g, x: 2 * g * x + 0 * x.amax(0))
    assert found(function, (3, 4)) == [Severity.NOTE]
    assert found(function, (4,)) == [Severity.NOTE]


def test_extents_that_are_equal_by_accident_are_not_emptied_together() -> None:
    def backward(g: Any, x: Any, w: Any) -> Any:
        return g[:, None] * w + 0 * w.max(), (g[:, None] * x).sum(0)

    assert found(made(lambda x, w: (x * w).sum(-1), backward), (4, 4), (4,)) == []


def test_a_backward_without_trouble_passes() -> None:
    assert found(made(lambda x: x.exp(), lambda g, x: g * x.exp()), (4, 3)) == []


def reads_first(x: Any) -> Any:
    """Zero, where there is a first slice."""
    return 0 * x[0]


ALONE = [
    lambda x: x.exp(),
    lambda x: x.softmax(1),
    lambda x: x * torch.arange(1.0, 1 + len(x), dtype=x.dtype)[:, None],
    lambda x: torch.stack([row.cumsum(0) for row in x]) if len(x) else x.exp(),
]
ALIKE = [
    lambda x: x - x.sum(0) / max(1, len(x)),
    lambda x: x.softmax(0),
    lambda x: x * (x @ x.T).sum(0)[:, None],
]
IN_ORDER = [
    lambda x: x.cumsum(0),
    lambda x: x.flip(0).cumsum(0).flip(0),
    lambda x: x.cummax(0).values,
    lambda x: x.sort(0).values,
    lambda x: torch.cat([x[:1], x[1:] + x[:-1]]),
    lambda x: (
        torch.fft.irfft(torch.fft.rfft(x, len(x) + 3, dim=0), len(x) + 3, dim=0)[: len(x)]
        * x.flip(0)
    ),
]


def differentiated(forward: Callable[..., Any], lost: Callable[[Any], Any]) -> type[Function]:
    """A Function with the gradient that autograd finds, and something added to it."""

    def backward(g: Any, x: Any) -> Any:
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            return torch.autograd.grad(forward(x), x, g)[0] + lost(x.detach())

    return made(forward, backward)


@pytest.mark.parametrize("forward", ALONE + ALIKE)
def test_slices_that_are_alone_or_alike_make_a_batch(forward: Any) -> None:
    assert found(differentiated(forward, reads_first), (4, 3)) == [Severity.ERROR]


@pytest.mark.parametrize("forward", IN_ORDER)
def test_slices_that_depend_on_their_order_make_no_batch(forward: Any) -> None:
    assert found(differentiated(forward, reads_first), (4, 3)) == [Severity.NOTE]


def test_a_gradient_of_another_shape_without_a_batch() -> None:
    def backward(g: Any, x: Any) -> Any:
        return g.flip(0).cumsum(0).flip(0) if len(x) else torch.zeros(2, 3, dtype=x.dtype)

    assert found(made(lambda x: x.cumsum(0), backward), (4, 3)) == [Severity.NOTE]


def test_a_state_beside_the_steps_of_a_scan() -> None:
    def scan(x: Any, h: Any) -> Any:
        return x.cumsum(0) + h

    def backward(g: Any, x: Any, h: Any) -> Any:
        total = g.flip(0).cumsum(0).flip(0)
        return total, total[0]

    assert found(made(scan, backward), (4, 3), (3,)) == [Severity.NOTE]

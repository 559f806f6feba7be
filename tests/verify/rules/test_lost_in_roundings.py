"""Roundings are no mistakes, and mistakes do not hide among roundings."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gradtool.results.report import Finding, Severity
from gradtool.run.runner import check
from tests.options import check_options

FAR_OUT = """
import torch
from gradtool import Function


class FarOut(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return {gradient}

    @staticmethod
    def sample_inputs():
        yield (torch.tensor({values}, dtype=torch.float64, requires_grad=True),)
"""

SIMPLE = """
import torch
from gradtool import Function


class Simple(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        {forward}

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        {backward}

    @staticmethod
    def sample_inputs():
        yield (torch.tensor({values}, dtype=torch.float64, requires_grad=True),)
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def findings(template: str, **parts: str) -> list[Finding]:
    Path("module.py").write_text(textwrap.dedent(template).format(**parts))
    return list(check(check_options(paths=("module.py",), strict=True)).findings())


def rules(template: str, **parts: str) -> list[str]:
    return [f.rule for f in findings(template, **parts) if f.severity is not Severity.NOTE]


@pytest.mark.parametrize("values", ["[15.0, -17.0]", "[18.0, -19.0]", "[5.0, -25.0]", "[20.0]"])
def test_a_saturated_output_is_verified_as_well_as_its_roundings_allow(values: str) -> None:
    assert rules(FAR_OUT, gradient="grad_output * (1 - y * y)", values=values) == []


def test_a_mistake_shows_beside_saturated_entries() -> None:
    assert "GT101" in rules(FAR_OUT, gradient="grad_output * (1 - y)", values="[0.5, 18.0, 25.0]")


def test_a_mistake_that_is_small_but_above_the_roundings_shows() -> None:
    assert "GT101" in rules(FAR_OUT, gradient="grad_output * (1 - y)", values="[10.0]")


@pytest.mark.parametrize(("backward", "expected"), [("x.cos()", []), ("x.sin()", ["GT603"])])
def test_a_slope_that_a_large_constant_hides_is_verified_by_the_steps_of_forward(
    backward: str, expected: list[str]
) -> None:
    parts = {"forward": "return 1e14 + x.sin()", "values": "[0.3]"}
    assert rules(SIMPLE, backward=f"return grad_output * {backward}", **parts) == expected


def test_a_root_of_numbers_of_every_size_is_verified_and_its_mistakes_show() -> None:
    parts = {"forward": "return x.sqrt()", "values": "[1e-12, 1e-8, 1e-4, 1e8]"}
    assert rules(SIMPLE, backward="return grad_output / (2 * x.sqrt())", **parts) == []
    assert "GT101" in rules(SIMPLE, backward="return grad_output / x.sqrt()", **parts)


def test_single_precision_may_lose_what_nearly_cancels_but_nothing_else() -> None:
    parts = {"forward": "return (1 - x.cos()) / x**2", "values": "[0.01, 0.1, 1.0]"}
    right = "return grad_output * (x.sin() / x**2 - 2 * (1 - x.cos()) / x**3)"
    assert rules(SIMPLE, backward=right, **parts) == []
    halved = right + " * (0.5 if x.dtype is torch.float32 else 1.0)"
    assert rules(SIMPLE, backward=halved, **parts) == ["GT117"]


def test_an_iteration_that_never_ends_in_single_precision_is_left_alone() -> None:
    forward = """y = x.clone()
        while (y * y - x).abs().max() > 1e-10:
            y = (y + x / y) / 2
        return y"""
    backward = "return grad_output / (2 * x.sqrt())"
    assert rules(SIMPLE, forward=forward, backward=backward, values="[2.0, 7.0]") == []


def test_a_third_derivative_that_is_not_a_number_is_no_mistake() -> None:
    found = rules(
        SIMPLE,
        forward="return x.clamp(min=0) ** 2.5",
        backward="return grad_output * 2.5 * x.clamp(min=0) ** 1.5",
        values="[-0.5, 2.0]",
    )
    assert found == []


def test_a_forward_that_refuses_a_layout_is_noted_and_a_backward_that_does_fails() -> None:
    parts = {"values": "[[0.5, 1.0, 2.0], [0.25, 3.0, 1.5]]"}
    refuses = findings(
        SIMPLE,
        forward="return 3 * x.view(-1)",
        backward="return 3 * grad_output.reshape(x.shape)",
        **parts,
    )
    assert [(f.rule, f.severity) for f in refuses] == [("GT112", Severity.NOTE)]
    assert "GT112" in rules(
        SIMPLE,
        forward="return 3 * x",
        backward="return 3 * grad_output.view(-1).view(x.shape)",
        **parts,
    )


def test_an_empty_tensor_that_reshape_cannot_divide_is_noted_and_one_without_a_first_fails() -> (
    None
):
    parts = {"forward": "return 3 * x", "values": "[[0.5, 1.0, 2.0], [0.25, 3.0, 1.5]]"}
    divided = "return 3 * grad_output.reshape(len(x), -1)"
    noted = findings(SIMPLE, backward=divided, **parts)
    assert [(f.rule, f.severity) for f in noted] == [("GT113", Severity.NOTE)]
    first = "return 3 * grad_output + 0 * grad_output.reshape(-1)[0]"
    assert rules(SIMPLE, backward=first, **parts) == ["GT113"]


def test_numbers_drawn_in_the_order_of_memory_may_differ_for_another_layout() -> None:
    found = rules(
        SIMPLE,
        forward="ctx.mask = torch.rand_like(x.detach()) > 0.5; return x * ctx.mask",
        backward="return grad_output * ctx.mask",
        values="[[0.5, 1.0, 2.0], [0.25, 3.0, 1.5]]",
    )
    assert "GT112" not in found


def test_digits_that_single_precision_loses_in_backward_alone_are_noted() -> None:
    quotient = "return grad_output * ((x + 1e-6).tanh() - (x - 1e-6).tanh()) / 2e-6"
    parts = {"forward": "return x.tanh()", "values": "[0.3, 0.7, 1.1, -0.9, 1.7, -0.2]"}
    found = [f for f in findings(SIMPLE, backward=quotient, **parts) if f.rule == "GT117"]
    assert [f.severity for f in found] == [Severity.NOTE]
    assert "loses digits" in found[0].message


def test_what_turns_many_times_between_two_numbers_seen_is_not_taken_for_constant() -> None:
    parts = {"forward": "return (1e8 * x).sin()", "values": "[0.3, -1.7]"}
    right = "return grad_output * 1e8 * (1e8 * x).cos()"
    assert "GT101" not in rules(SIMPLE, backward=right, **parts)
    assert "GT101" in rules(SIMPLE, backward=right + " * 2", **parts)


@pytest.mark.parametrize(("other", "broken"), [("f * (f * (3 * g))", []), ("p + 2e-3", ["GT112"])])
def test_another_order_of_roundings_in_single_precision_is_no_other_gradient(
    other: str, broken: list[str]
) -> None:
    single = "f, g = x.float(), grad_output.float(); p = (f * f) * (3 * g)"
    found = rules(
        SIMPLE,
        forward="f = x.float(); return (f * f * f).double()",
        backward=f"{single}; return (p if grad_output.is_contiguous() else {other}).double()",
        values="[[0.53, 1.07, 2.31], [0.29, 3.13, 1.57]]",
    )
    assert [rule for rule in found if rule == "GT112"] == broken

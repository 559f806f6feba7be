"""The evidence that the verdicts of a case rest on, and the reason where part of it is missing."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

import gradtool.engine as torch
from gradtool.engine.autograd import Function
from gradtool.results.report import Basis
from gradtool.testing import check


class Sine(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * x.cos()


class ThroughNumpy(Sine):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.from_numpy(np.sin(x.detach().numpy()))


class Packed(Sine):
    """Loses a part of its derivative on the way through a file, which is no conversion."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        file = io.BytesIO()
        torch.save(x, file)
        file.seek(0)
        return torch.load(file).sin() + 0 * x


def basis(function: Any, **options: Any) -> Basis | None:
    x = torch.tensor([0.3], dtype=torch.float64)
    report = check(function, [(x,)], **options)
    ((case,),) = (function.cases for _, function in report.functions())
    return case.basis


def test_evaluations_confirm_the_exact_derivative() -> None:
    assert basis(Sine) == Basis(evidence="exact and numeric")


def test_without_the_witness_evaluations_decide() -> None:
    assert basis(Sine, witness=False) == Basis(evidence="numeric only")


def test_a_conversion_to_numbers_is_named_with_its_line() -> None:
    found = basis(ThroughNumpy)
    assert found is not None
    assert found.evidence == "numeric only"
    line = ThroughNumpy.forward.__code__.co_firstlineno + 3
    assert found.reason == f"forward leaves the engine at line {line} of test_basis.py: `numpy()`"


def test_a_contradiction_is_told_from_silence() -> None:
    reason = "evaluations contradict the recorded forward"
    assert basis(Packed) == Basis(evidence="numeric only", reason=reason)


def test_a_forward_that_cannot_be_recorded_says_why() -> None:
    def refused(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        if torch.is_grad_enabled():
            raise ValueError("not while gradients are recorded")
        return x.sin()

    found = basis(type("Refused", (Sine,), {"forward": staticmethod(refused)}), select=["GT101"])
    assert found == Basis(
        evidence="numeric only",
        reason="forward cannot be recorded: ValueError: not while gradients are recorded",
    )


def test_nothing_compared_rests_on_nothing() -> None:
    assert basis(Sine, select=["GT505"]) is None

"""Autograd, Functions, transforms and the gate on a real device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import gradtool.engine as torch
from gradtool.results.report import Verdict
from gradtool.run.runner import check
from tests.options import check_options

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


def matrix(device: str) -> Any:
    return torch.arange(12, dtype=torch.float64, device=device).reshape(3, 4) / 7


def test_gradients_of_both_orders() -> None:
    found = []
    for device in ("cpu", "cuda"):
        x = matrix(device).requires_grad_()
        y = Cube.apply(x).exp().neg().softmax(1).square().sum()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), x, retain_graph=True)
        y.backward()
        assert x.grad.device == x.device
        found.append([each.detach().cpu().numpy() for each in (y, first, second, x.grad)])
    for here, there in zip(*found, strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-12)


def test_gradcheck() -> None:
    x = matrix("cuda").requires_grad_()
    assert torch.autograd.gradcheck(Cube.apply, (x,))
    assert torch.autograd.gradgradcheck(Cube.apply, (x,))


def test_transforms() -> None:
    def energy(x: Any) -> Any:
        return (x.sin() * x).sum()

    here, there = matrix("cpu")[0], matrix("cuda")[0]
    for transform in (torch.func.grad, torch.func.jacrev, torch.func.jacfwd, torch.func.hessian):
        np.testing.assert_allclose(
            transform(energy)(there).cpu().numpy(), transform(energy)(here).numpy(), rtol=1e-10
        )
    rows = torch.func.vmap(torch.func.grad(energy))
    np.testing.assert_allclose(
        rows(matrix("cuda")).cpu().numpy(), rows(matrix("cpu")).numpy(), rtol=1e-10
    )


def test_the_samples_pass_but_for_the_one_that_is_written_for_host_memory() -> None:
    report = check(check_options(paths=(str(SAMPLES),), device="cuda"))
    failed = [
        function.name
        for module in report.modules
        for function in module.functions
        if function.verdict is not Verdict.PASS
    ]
    assert failed == ["Inplace"]

"""``gradtool.check`` of what computes with the installed PyTorch: whose it is need not be said."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

import gradtool
from gradtool.errors import UsageError
from gradtool.results.report import Report, Verdict

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
    ),
]

FIRST_ORDER = ("GT101", "GT102", "GT103", "GT106", "GT501", "GT505")


def scale(factor: float) -> Any:
    """A Function of PyTorch's whose gradient is that of a multiplication by `factor`."""
    import torch

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * factor

    return Doubled


def rules(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings()}


def test_the_line_where_forward_leaves_pytorch_is_named() -> None:
    import torch

    class ThroughNumpy(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return torch.from_numpy(x.detach().numpy() * 2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    def evidence(function: Any) -> str:
        report = gradtool.check(function, select=["GT101"])
        ((case,),) = (each.cases for _, each in report.functions())
        assert case.basis is not None
        return case.basis.reason or case.basis.evidence

    line = ThroughNumpy.forward.__code__.co_firstlineno + 2
    assert evidence(scale(2.0)) == "exact and numeric"
    assert evidence(ThroughNumpy) == (
        f"forward leaves the engine at line {line} of test_testing_torch.py: `numpy()`"
    )


@pytest.mark.parametrize(("factor", "found"), [(2.0, set()), (3.0, {"GT101"})])
def test_a_function(factor: float, found: set[str]) -> None:
    function = scale(factor)
    for asked in (function, function.apply):
        report = gradtool.check(asked, select=FIRST_ORDER)
        assert rules(report) == found
        assert report.environment.engine.startswith("PyTorch ")
        replays = [finding.replay or "" for finding in report.findings()]
        assert all(replay.endswith("--engine torch") for replay in replays)


def test_a_callable_is_known_by_its_arguments() -> None:
    import torch

    x = torch.randn(3, dtype=torch.float64)
    report = gradtool.check(lambda x: scale(3.0).apply(x).sin(), [(x,)], select=["GT1"])
    assert rules(report) == {"GT101"}
    assert gradtool.check(torch.cumsum, [(x, 0)], select=["GT1"]).verdict is Verdict.PASS


def test_a_module_and_its_class() -> None:
    import torch

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            return scale(3.0).apply(self.inner(x))

    for asked in (Layer, Layer().double()):
        cases = [(torch.randn(3, 4, dtype=torch.float64),)]
        report = gradtool.check(asked, cases, select=["GT101"])
        assert report.environment.engine.startswith("PyTorch ")
        (case,) = report.modules[0].functions[0].cases
        assert "inner.weight: float64[2, 4]" in case.arguments
        assert rules(report) == {"GT101"}


def test_the_engine_can_be_said() -> None:
    def product(x: Any, y: Any) -> Any:
        return x * y

    for engine, shown in (("bundled", "bundled"), ("torch", "PyTorch ")):
        report = gradtool.check(product, engine=engine, select=FIRST_ORDER)
        assert report.verdict is Verdict.PASS
        assert report.environment.engine.startswith(shown)
    with pytest.raises(UsageError, match="engine must be 'bundled' or 'torch' here"):
        gradtool.check(product, engine="both")

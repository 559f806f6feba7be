"""``nn.Module``s: inputs and parameters are checked, under both engines, without side effects."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from gradtool.results.report import CaseResult, Report, Verdict
from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options

MODULE = """
import torch
from torch import nn
from torch.autograd import Function


class Tripled(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x**3 * scale

    @staticmethod
    def backward(ctx, g):
        x, scale = ctx.saved_tensors
        return 3 * g * x**2 * scale, g * x**FAULT


class Counting(nn.Module):
    def __init__(self, features, bias=True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, features))
        self.bias = nn.Parameter(torch.randn(2)) if bias else None
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        y = x @ self.weight.t() + self.calls
        return y if self.bias is None else y + self.bias


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), Counting(3))
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return Tripled.apply(self.layers(x), self.scale)


def helper(x, y):
    return (x * y).sin().sum(0)
"""

CONFIG = """
version: 1
functions:
  Counting:
    module: {args: [3], kwargs: {bias: false}}
    cases: [{args: [{shape: [4, 3]}]}]
  "net.py::Net":
    module: {mode: eval}
    cases: [{args: [{shape: [5, 4]}]}]
  "net.py::helper": {}
"""

ENGINES = [
    "bundled",
    pytest.param(
        "both",
        marks=[
            pytest.mark.torch,
            pytest.mark.skipif(
                importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
            ),
        ],
    ),
]


def checked(path: str, engine: str = "bundled", **options: Any) -> Report:
    return check(check_options(paths=(path,), engine=engine, **options))


def only_case(report: Report) -> CaseResult:
    (function,) = report.modules[0].functions
    (case,) = function.cases
    return case


@pytest.fixture
def net(write: Write) -> Path:
    return write({"net.py": MODULE.replace("FAULT", "3"), "gradtool.yaml": CONFIG})


@pytest.mark.parametrize("engine", ENGINES)
def test_what_the_configuration_describes_is_checked_beside_the_functions(
    net: Path, engine: str
) -> None:
    asked = ("GT101", "GT111", "GT112", "GT201", "GT504", "GT702")
    report = checked("net.py", engine, strict=True, select=asked)
    assert {function.name for _, function in report.functions()} == {
        "Tripled",
        "Counting",
        "Net",
        "helper",
    }
    assert report.verdict is Verdict.PASS
    agreeing = [each.verdict for each in report.checks() if each.rule == "GT702"]
    assert agreeing.count(Verdict.PASS) == (4 if engine == "both" else 0)


def test_parameters_are_arguments_with_their_names(net: Path) -> None:
    case = only_case(checked("net.py::Net", select=("GT101",)))
    assert case.arguments == (
        "module: Net() in evaluation mode",
        "x: float64[5, 4]",
        "scale: float64[2]",
        "layers.0.weight: float64[3, 4]",
        "layers.0.bias: float64[3]",
        "layers.1.weight: float64[3]",
        "layers.1.bias: float64[3]",
        "layers.2.weight: float64[2, 3]",
        "layers.2.bias: float64[2]",
    )


def test_a_module_is_made_as_the_configuration_says(net: Path) -> None:
    case = only_case(checked("net.py::Counting", select=("GT101",)))
    assert case.arguments[0] == "module: Counting(3, bias=False) in training mode"
    assert case.source == "config"


def test_arguments_of_a_module_are_inferred(write: Write) -> None:
    module = "version: 1\nfunctions:\n  Counting: {module: {args: [3]}}\n"
    write({"net.py": MODULE.replace("FAULT", "3"), "gradtool.yaml": module})
    case = only_case(checked("net.py::Counting", select=("GT101",)))
    assert case.source == "inferred"
    assert case.arguments[1].endswith(", 3]")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_wrong_gradient_of_a_parameter_names_it(write: Write, engine: str) -> None:
    write({"net.py": MODULE.replace("FAULT", "2"), "gradtool.yaml": CONFIG})
    (finding,) = checked("net.py::Net", engine, select=("GT101", "GT702")).findings()
    assert finding.rule == "GT101"
    assert "gradient of `scale` differs" in finding.message
    assert finding.evidence is not None
    assert finding.evidence.argument == "scale"


def test_a_constructor_without_its_arguments_says_where_to_give_them(write: Write) -> None:
    write({"net.py": MODULE.replace("FAULT", "3")})
    (finding,) = checked("net.py::Counting").findings()
    assert finding.rule == "GT002"
    assert finding.message.startswith("Counting() raised TypeError: ")
    entry = "Counting: {module: {args: [...]}}"
    assert (finding.hint or "").endswith(f"in gradtool.yaml, under functions:\n{entry}")


def test_how_to_make_a_function_is_refused(write: Write) -> None:
    config = "version: 1\nfunctions:\n  Tripled: {module: {args: [1]}}\n"
    write({"net.py": MODULE.replace("FAULT", "3"), "gradtool.yaml": config})
    (finding,) = checked("net.py::Tripled").findings()
    said = "functions.Tripled.module: `module` is only for an nn.Module, and Tripled is not one"
    assert finding.message == said
    assert (finding.location.path, finding.location.line) == ("gradtool.yaml", 3)


def test_an_argument_with_the_name_of_a_parameter_is_refused(write: Write) -> None:
    source = (
        "from torch import nn, ones\n"
        "class Scale(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.weight = nn.Parameter(ones(3))\n"
        "    def forward(self, x, weight=None):\n"
        "        return x * self.weight\n"
    )
    case = "{args: [{shape: [3]}], kwargs: {weight: {shape: [3]}}}"
    config = f"version: 1\nfunctions:\n  Scale: {{cases: [{case}]}}\n"
    write({"scale.py": source, "gradtool.yaml": config})
    (finding,) = checked("scale.py::Scale").findings()
    assert (
        "'weight' is also the name of a parameter: pass this argument by position"
        in finding.message
    )

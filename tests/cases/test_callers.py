"""Callers of a Function run to find its arguments, unless they reach out of the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.results.report import Verdict
from gradtool.run.runner import check
from tests.options import check_options

MODULE = """
import os
import shutil

import torch


class Leaves:
    def __init__(self, x):
        self.parts = [x]


class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, tree):
        if type(tree) is not Leaves:
            raise TypeError("no tree")
        return x * len(tree.parts)

    @staticmethod
    def backward(ctx, grad):
        return grad, None


def total(x: torch.Tensor):
    STATEMENT
    return Total.apply(x, Leaves(x))
"""


@pytest.mark.parametrize(
    ("statement", "runs"),
    [
        ("x = x * 1", True),
        ("os.close(os.open('ran', os.O_CREAT))", False),
        ("shutil.copy(__file__, 'ran')", False),
        ("open('ran', 'w').close()", False),
    ],
)
def test_callers_that_touch_files_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, runs: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(MODULE.replace("STATEMENT", statement))
    report = check(check_options(paths=("ops.py",), explore="off"))
    assert not (tmp_path / "ran").exists()
    assert any(function.cases for _, function in report.functions()) is runs


UNCOMPARABLE = """
import torch


class State:
    def __init__(self, scale):
        self.scale = scale

    def __eq__(self, other):
        raise AttributeError(other.scale)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, state):
        if x.shape[-1] != 3 or state.scale != 2:
            raise ValueError("3 columns are needed")
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


def scaled(x: torch.Tensor):
    return Scaled.apply(x, State(2))
"""


def test_objects_that_cannot_be_compared_are_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(UNCOMPARABLE)
    report = check(check_options(paths=("ops.py",), explore="off"))
    ((_, function),) = report.functions()
    assert function.cases


ADJOINT = """
import torch


class OverlapAdd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, frames, hop, n):
        count, width = frames.shape
        ctx.hop, ctx.width = hop, width
        at = torch.arange(count)[:, None] * hop + torch.arange(width)
        return frames.new_zeros(n).index_add_(0, at.reshape(-1), frames.reshape(-1))

    @staticmethod
    def backward(ctx, grad):
        return Frames.apply(grad, ctx.width, ctx.hop), None, None


class Frames(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, width, hop):
        assert x.dim() == 1 and 1 <= width <= x.shape[0] and hop >= 1
        ctx.hop, ctx.n = hop, x.shape[0]
        return x.unfold(0, width, hop).clone()

    @staticmethod
    def backward(ctx, grad):
        return OverlapAdd.apply(grad, ctx.hop, ctx.n), None, None
"""


def test_a_function_that_a_backward_calls_gets_its_arguments_from_there(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(ADJOINT)
    report = check(check_options(paths=(str(tmp_path / "ops.py"),), explore="off"))
    assert [function.verdict.value for _, function in report.functions()] == ["pass", "pass"]


OPS = """
import torch


class Taps:
    def __init__(self, weights):
        self.weights = weights


class Filtered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, taps):
        if type(taps) is not Taps:
            raise TypeError("no taps")
        ctx.taps = taps
        return x * taps.weights

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.taps.weights, None
"""

LAYERS = """
import torch

from .ops import Filtered, Taps


class Filter(torch.nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.taps = Taps(torch.arange(width) + 0.5)

    def forward(self, x: torch.Tensor):
        return Filtered.apply(x, self.taps)
"""


@pytest.mark.parametrize("name", ["layers", "test_layers"])
def test_a_caller_may_be_in_another_module_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "signals"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "ops.py").write_text(OPS)
    (package / f"{name}.py").write_text(LAYERS)
    report = check(check_options(paths=("signals/ops.py",), explore="off"))
    cases = [case for _, function in report.functions() for case in function.cases]
    assert [case.verdict for case in cases] == ([Verdict.PASS] * 2 if name == "layers" else [])
    assert all(case.inferred_from == "a call to Filter.forward" for case in cases)


SOFTENED = """
import torch
import torch.nn.functional as F


class Softened(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, taps, turned):
        ctx.save_for_backward(turned)
        return F.conv2d(x, taps, padding=1, groups=x.shape[1])

    @staticmethod
    def backward(ctx, grad):
        (turned,) = ctx.saved_tensors
        return F.conv2d(grad, turned, padding=1, groups=grad.shape[1]), None, None


class Soften(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        taps = torch.tensor([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]])
        self.taps = taps.repeat(channels, 1, 1, 1)
        self.turned = taps.flip(0, 1).repeat(channels, 1, 1, 1)

    def forward(self, x: torch.Tensor):
        return Softened.apply(x, self.taps, self.turned)
"""


def test_constants_that_a_caller_made_stay_as_it_made_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(SOFTENED)
    ((_, function),) = check(check_options(paths=("ops.py",))).functions()
    checks = [*function.checks, *(check for case in function.cases for check in case.checks)]
    assert len(function.cases) == 2
    assert not any(each.findings for each in checks if each.verdict is Verdict.FAIL)


DOCUMENTED = """
import torch


class Moved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, model, x, depth):
        if x.ndim != 2 or depth.shape != x.shape[:1]:
            raise ValueError("wrong shapes")
        ctx.save_for_backward(x, depth)
        return model.evaluate(x, depth)

    @staticmethod
    def backward(ctx, grad):
        x, depth = ctx.saved_tensors
        return None, grad * depth[:, None], (grad * x).sum(1)


class Source(torch.nn.Module):
    def __init__(self, has_closed_form: bool = False):
        super().__init__()
        self.has_closed_form = has_closed_form

    def forward(self, x, depth):
        if self.has_closed_form:
            return Moved.apply(self, x, depth)
        return self.evaluate(x, depth)

    def evaluate(
        self,
        x,  # [B, N]
        depth,  # [B]
    ):
        if (depth > 0).any():
            raise ValueError("the convention requires depth <= 0")
        return x * depth[:, None]
"""


def test_a_method_behind_a_caller_shows_its_shapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(DOCUMENTED)
    report = check(check_options(paths=("ops.py",), explore="off"))
    ((_, function),) = report.functions()
    assert [case.verdict for case in function.cases] == [Verdict.PASS] * 2
    assert list(report.findings()) == []

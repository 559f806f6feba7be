"""``torch.library`` operators with ``register_autograd`` are found and checked as Functions are."""

from __future__ import annotations

import ast
import importlib.util

import pytest

from gradtool.collect.discovery import can_define_functions
from gradtool.errors import UsageError
from gradtool.results.report import Finding, Report, Verdict
from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options

MODULE = """
import numpy as np
import torch
from torch import Tensor
from torch.library import custom_op


@torch.library.custom_op("mine::sine", mutates_args=())
def sine(x: Tensor, factor: float = 1.5) -> Tensor:
    return torch.from_numpy(np.sin(x.detach().numpy() * factor))


@sine.register_fake
def _(x, factor=1.5):
    return torch.empty_like(x)


def keep(ctx, inputs, output):
    x, ctx.factor = inputs
    ctx.save_for_backward(x)


def back(ctx, g):
    (x,) = ctx.saved_tensors
    return g * (x * ctx.factor).cos() * ctx.factor, None


sine.register_autograd(back, setup_context=keep)


@custom_op("mine::product", mutates_args=())
def product(x: Tensor, y: Tensor) -> Tensor:
    return x * y


def keep_both(ctx, inputs, output):
    ctx.x, ctx.y = inputs


def back_of_product(ctx, g):
    return g * ctx.y, g * ctx.y


torch.library.register_autograd("mine::product", back_of_product, setup_context=keep_both)


@product.register_vmap
def _(info, in_dims, x, y):
    first = x if in_dims[0] is None else x.movedim(in_dims[0], 0)
    second = y if in_dims[1] is None else y.movedim(in_dims[1], 0)
    return first * second, 0


@custom_op("mine::counted", mutates_args=())
def counted(x: Tensor) -> Tensor:
    return x * 2


counted.register_autograd(lambda ctx, g: (g * 2, g))


@custom_op("mine::plain", mutates_args=())
def plain(x: Tensor) -> Tensor:
    return x + 1


def composed(x):
    return torch.ops.mine.sine(x, 2.0) * 3
"""

ENGINES = [
    "bundled",
    pytest.param(
        "torch",
        marks=[
            pytest.mark.torch,
            pytest.mark.skipif(
                importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
            ),
        ],
    ),
]


def of(report: Report, name: str) -> dict[str, Finding]:
    (function,) = [each for _, each in report.functions() if each.name == name]
    return {
        finding.rule: finding
        for case in function.cases
        for asked in case.checks
        for finding in asked.findings
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_each_operator_with_a_gradient_is_checked(write: Write, engine: str) -> None:
    write({"ops.py": MODULE})
    report = check(check_options(paths=("ops.py",), engine=engine))
    assert [each.name for _, each in report.functions()] == ["sine", "product", "counted"]
    assert of(report, "sine") == {}
    wrong = of(report, "product")["GT101"]
    assert "gradient of `y` differs" in wrong.message
    line = MODULE.splitlines().index("def back_of_product(ctx, g):") + 1
    assert (wrong.location.path, wrong.location.line) == ("ops.py", line)
    assert "GT505" in of(report, "product")
    assert of(report, "counted").keys() == {"GT102"}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_callable_that_calls_one_by_its_name_is_checked(write: Write, engine: str) -> None:
    write({"ops.py": MODULE})
    report = check(check_options(paths=("ops.py::composed",), engine=engine, select=("GT1", "GT2")))
    assert report.verdict is Verdict.PASS


@pytest.mark.parametrize("engine", ENGINES)
def test_one_without_a_gradient_is_refused(write: Write, engine: str) -> None:
    write({"ops.py": MODULE})
    with pytest.raises(UsageError, match="plain has no gradient: register_autograd was not called"):
        check(check_options(paths=("ops.py::plain",), engine=engine))


def test_a_walk_imports_what_may_define_one() -> None:
    assert can_define_functions(
        ast.parse("@torch.library.custom_op('a::b', mutates_args=())\ndef f(): ...")
    )
    assert can_define_functions(ast.parse("from torch.library import custom_op"))
    assert not can_define_functions(ast.parse("import torch\ndef f(): ..."))

"""Numbers that overflow are answered without a warning of gradtool's own arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool.results.report import Verdict
from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options
from tests.user_modules import GOOD

EXP = """
import torch
from gradtool import Function

class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = (100 * x).exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return 100 * g * y

    @staticmethod
    def sample_inputs():
        for x in XS:
            yield (torch.tensor(x, dtype=torch.DTYPE, requires_grad=True),)
"""

SINGLE = {"XS": "([0.8, -0.8], [0.89, 0.5], [20.0, 20.0])", "DTYPE": "float32"}
DOUBLE = {"XS": "([0.8, -0.8], [7.0, 7.0], [7.1, -7.1], [20.0, 20.0])", "DTYPE": "float64"}


@pytest.mark.parametrize("said", [SINGLE, DOUBLE])
@pytest.mark.parametrize("options", [{}, {"atol": 1e308, "rtol": 1e308}, {"dtype": "float32"}])
@pytest.mark.filterwarnings("error")
def test_overflow_is_no_fault_of_the_checker(
    write: Write, said: dict[str, str], options: dict[str, Any]
) -> None:
    text = EXP
    for name, value in said.items():
        text = text.replace(name, value)
    write({"ops.py": text})
    report = check(check_options(paths=("ops.py",), **options))
    ((_, function),) = report.functions()
    assert len(function.cases) == text.count("], [") + 1
    assert Verdict.ERROR not in {case.verdict for case in function.cases}


def test_what_a_forced_dtype_cannot_hold_is_no_fault_of_the_checker(write: Write) -> None:
    spec = "{values: [1.0e+39], dtype: float64}"
    config = f"version: 1\nfunctions:\n  Square:\n    cases:\n      - args: [{spec}]\n"
    write({"ops.py": GOOD, "gradtool.yaml": config})
    report = check(check_options(paths=("ops.py::Square",), dtype="float32"))
    ((_, function),) = report.functions()
    assert [case.verdict for case in function.cases] == [Verdict.UNVERIFIED]

"""A wrong gradient is found whatever the module beside it does, and however many run at once.

``GRADTOOL_TEST_SIBLINGS`` sets how many pairs are checked.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.hostile import runs
from tests.hostile.modules import TAMPERING
from tests.workers.hostile_functions import HOSTILE, source

pytestmark = pytest.mark.skipif(runs.needs_fork, reason="isolation needs fork")

PAIRS = int(os.environ.get("GRADTOOL_TEST_SIBLINGS", "10"))
TOGETHER = 10
"""Pairs in one run."""

DERIVATIVES = {
    "x * x": "2 * x",
    "x * x * x": "3 * x * x",
    "x.sin()": "x.cos()",
    "x.exp()": "x.exp()",
    "x.tanh()": "1 - x.tanh() ** 2",
    "x.sigmoid()": "x.sigmoid() * (1 - x.sigmoid())",
    "x * (-x).exp()": "(1 - x) * (-x).exp()",
    "(x * x + 1).log()": "2 * x / (x * x + 1)",
    "x / (1 + x * x)": "(1 - x * x) / (1 + x * x) ** 2",
}
MISTAKES = (
    "-({})",
    "({}) * 1.01",
    "({}) * 0",
    "({}) + 0.05",
    "({}).round()",
    "({}) * x",
    "({}) ** 2 + 3",
    "({}).clamp(max=-9.0)",
)
SOURCE = """\
{imports}
import torch


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {value}

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ({derivative})
"""


def wrong(chance: Random, sibling: str) -> str:
    """A module with a wrong Function, which may import the module beside it."""
    value, derivative = chance.choice(list(DERIVATIVES.items()))
    return SOURCE.format(
        imports=chance.choice(("", f"import {sibling}")),
        value=value,
        derivative=chance.choice(MISTAKES).format(derivative),
    )


def hostile(chance: Random) -> str:
    """A module that tampers with its process, or ends it."""
    ways = chance.choice(([each.source for each in TAMPERING], [source(each) for each in HOSTILE]))
    return chance.choice(ways)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, PAIRS, TOGETHER))
def test_no_wrong_gradient_passes_beside_a_hostile_module(tmp_path: Path, first: int) -> None:
    chance = Random(first)
    numbers = range(first, min(first + TOGETHER, PAIRS))
    runs.write(tmp_path, **{f"beside_{number}": hostile(chance) for number in numbers})
    runs.write(tmp_path, **{f"wrong_{n}": wrong(chance, f"beside_{n}") for n in numbers})
    jobs = chance.choice(("1", "2", "5"))
    limits = ("--timeout", "3", "--memory-limit", "1GiB")
    status, report = runs.check(tmp_path, ".", "-j", jobs, *limits)
    assert status in {1, 4}
    assert not report.faults
    files = [f"wrong_{number}.py" for number in numbers]
    assert [file for file in files if not runs.found_in(report, file)] == []

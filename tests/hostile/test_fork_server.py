"""Code that ends the process which workers are forked from harms nobody but itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import runs

pytestmark = pytest.mark.skipif(runs.needs_fork, reason="isolation needs fork")

SOURCE = """
import os, signal
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        {act}
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output

    @staticmethod
    def sample_inputs():
        return [(torch.ones(2, dtype=torch.float64, requires_grad=True),)]
"""
KILLS = SOURCE.format(act="os.kill(os.getppid(), signal.SIGKILL)")
STOPS = SOURCE.format(act="os.kill(os.getppid(), signal.SIGSTOP); signal.pause()")
GOOD = SOURCE.format(act="pass")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_killed_fork_server_is_replaced(tmp_path: Path, jobs: str) -> None:
    runs.write(tmp_path, a=GOOD, b=KILLS, c=GOOD)
    status, report = runs.check(tmp_path, ".", "-j", jobs)
    assert status == 1
    assert runs.found_in(report, "b.py") == {"GT005"}
    assert runs.passes(report, "a.py")
    assert runs.passes(report, "c.py")


@pytest.mark.slow
def test_a_stopped_fork_server_is_replaced(tmp_path: Path) -> None:
    runs.write(tmp_path, a=GOOD, b=STOPS, c=GOOD)
    status, report = runs.check(tmp_path, ".", "-j", "2", "--timeout", "2")
    assert status == 1
    assert runs.found_in(report, "b.py") <= {"GT005", "GT006", "GT007"}
    assert runs.found_in(report, "b.py")
    assert runs.passes(report, "a.py")
    assert runs.passes(report, "c.py")

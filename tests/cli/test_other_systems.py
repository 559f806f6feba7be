"""Nothing of one system only is imported where it is not there, and every command works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "--help",
    "check --help",
    "doctor",
    "check .",
    "profile ops.py --budget 0.1",
    "derive ops.py",
)

SOURCE = """
from gradtool import Function, tensor


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * {factor} * x * x

    @staticmethod
    def sample_inputs():
        yield (tensor([1.0, 2.0]).double().requires_grad_(),)
"""


def run(system: str, command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    script = Path(__file__).with_name("other_system.py")
    return subprocess.run(
        [sys.executable, str(script), system, *command.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("system", ["win32", "darwin"])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_works(system: str, command: str, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(SOURCE.format(factor=3))
    done = run(system, command, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_a_wrong_gradient_is_found(system: str, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(SOURCE.format(factor=2))
    assert run(system, "check ops.py", tmp_path).returncode == 1


@pytest.mark.parametrize(("system", "count"), [("win32", 1), ("darwin", 0)])
def test_a_system_that_cannot_isolate_says_so(system: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(SOURCE.format(factor=3))
    assert run(system, "check ops.py", tmp_path).stdout.count("not isolated: ") == count

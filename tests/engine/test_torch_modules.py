"""Modules written for PyTorch run unchanged on the engine, and print what they print there."""

from __future__ import annotations

import math
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("torch_modules")
PRINTED = FOLDER / "printed"
"""What each module prints with PyTorch."""

MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "show")
RTOL = 1e-12


@pytest.mark.parametrize("module", MODULES)
def test_prints_on_the_engine_what_it_prints_with_pytorch(module: str) -> None:
    command = [sys.executable, "-m", "gradtool", "run", str(FOLDER / f"{module}.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(done.stdout, (PRINTED / f"{module}.txt").read_text())


@pytest.mark.torch
@pytest.mark.parametrize("module", MODULES)
def test_pytorch_still_prints_it(
    module: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch", reason="runs on PyTorch, which is not installed")
    monkeypatch.syspath_prepend(str(FOLDER))
    try:
        runpy.run_path(str(FOLDER / f"{module}.py"), run_name="__main__")
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_printoptions(profile="default")
    monkeypatch.delitem(sys.modules, "show")
    assert_same(capsys.readouterr().out, (PRINTED / f"{module}.txt").read_text())


def test_comparison_sees_a_digit_and_a_word() -> None:
    assert_same("x 1.0000000000001", "x 1.0")
    for other in ("x 1.00000000001", "y 1.0", "x 1.0 2.0", "x nan"):
        with pytest.raises(AssertionError):
            assert_same(other, "x 1.0")


def assert_same(analytic: str, expected: str) -> None:
    """The same words, and numbers that differ by no more than rounding."""
    got, wanted = analytic.split(), expected.split()
    assert len(got) == len(wanted)
    scale = max([abs(number) for word in wanted if (number := as_number(word)) is not None] + [1])
    for left, right in zip(got, wanted, strict=True):
        a, b = as_number(left), as_number(right)
        if a is None or b is None:
            assert left == right
        else:
            assert math.isclose(a, b, rel_tol=RTOL, abs_tol=RTOL * scale), (left, right)


def as_number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None

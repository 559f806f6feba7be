"""The arguments of Functions are noted in every process that a command starts."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gradtool.errors import UsageError
from gradtool.record.notes import Recorded
from gradtool.record.recording import record

OPS = """
import torch


class Take(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *rest):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return (2 * g, *[None] * 9)[: len(ctx.needs_input_grad)]


class Filter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, taps):
        ctx.save_for_backward(taps)
        return x * taps.sum()

    @staticmethod
    def backward(ctx, g):
        (taps,) = ctx.saved_tensors
        return g * taps.sum(), None
"""


def recorded(
    folder: Path, script: str, *, engine: str | None = "bundled", limit: int = 10
) -> list[Recorded]:
    (folder / "ops.py").write_text(OPS)
    (folder / "script.py").write_text(f"import torch\nfrom ops import Take\n{script}\n")
    command = [sys.executable, str(folder / "script.py")]
    code, found = record(command, engine=engine, limit=limit, root=folder)
    assert code == 0
    return found


def arguments(folder: Path, call: str, **options: Any) -> tuple[Any, ...]:
    (found,) = recorded(folder, f"x = torch.ones(3, 2, requires_grad=True)\n{call}", **options)
    (case,) = found.cases
    return case.args


X = {"shape": [3, 2], "low": 1.0, "high": 1.0}


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ("None, True, 3, 0.5, 'mean'", (None, True, 3, 0.5, "mean")),
        ("(1, 2), [x.detach()]", ([1, 2], [{**X, "requires_grad": False}])),
        ("{'a': 1}, {'shape': 2}", ({"a": 1}, {"literal": {"shape": 2}})),
        ("torch.tensor([2, 0])", ({"values": [2, 0]},)),
        ("torch.tensor([1], dtype=torch.int32)", ({"values": [1], "dtype": "int32"},)),
        ("torch.tensor([True, False])", ({"values": [True, False]},)),
        ("torch.arange(100)", ({"shape": [100], "dtype": "int64", "low": 0, "high": 100},)),
        (
            "torch.eye(2, dtype=torch.double)",
            ({"values": [[1.0, 0.0], [0.0, 1.0]], "requires_grad": False},),
        ),
        (
            "torch.tensor([1.0, 0.0], dtype=torch.double)",
            ({"values": [1.0, 0.0], "requires_grad": False},),
        ),
        (
            "torch.zeros(2, 2, dtype=torch.double)",
            ({"shape": [2, 2], "low": 0.0, "high": 0.0, "requires_grad": False},),
        ),
        (
            "torch.linspace(0.12345678, 1.98765, 7, dtype=torch.double)",
            ({"shape": [7], "low": 0.1235, "high": 1.987, "requires_grad": False},),
        ),
    ],
)
def test_what_is_written(tmp_path, values, written):
    assert arguments(tmp_path, f"Take.apply(x, {values})") == (X, *written)


def test_calls_by_a_check_are_not_the_programs(tmp_path):
    script = """
from gradtool.testing import check
check(Take, [(torch.ones(4, dtype=torch.double),)])
Take.apply(torch.rand(2, requires_grad=True), "a")
"""
    (found,) = recorded(tmp_path, script)
    assert [case.args[0]["shape"] for case in found.cases] == [[2]]


def test_equal_shapes_are_one_case(tmp_path):
    loop = "for i in range(5): Take.apply(torch.rand(i % 2 + 1, requires_grad=True), 'a')"
    (found,) = recorded(tmp_path, loop)
    assert [case.args[0]["shape"] for case in found.cases] == [[1], [2]]


def test_the_number_of_cases_is_limited(tmp_path):
    loop = "for i in range(5): Take.apply(torch.rand(i + 1, requires_grad=True))"
    (found,) = recorded(tmp_path, loop, limit=3)
    assert len(found.cases) == 3


def test_calls_without_gradients_give_way_to_those_with(tmp_path):
    calls = "Take.apply(torch.rand(2))\nTake.apply(torch.rand(3, requires_grad=True))"
    (found,) = recorded(tmp_path, calls)
    assert [case.args[0]["shape"] for case in found.cases] == [[3]]


def test_calls_without_gradients_are_made_to_ask_for_them(tmp_path):
    (found,) = recorded(tmp_path, "Take.apply(torch.rand(2))")
    assert "requires_grad" not in found.cases[0].args[0]


def test_calls_without_gradients_ask_only_for_those_that_backward_may_return(tmp_path):
    call = "from ops import Filter\nFilter.apply(torch.rand(2), torch.rand(3))"
    (found,) = recorded(tmp_path, call)
    x, taps = found.cases[0].args
    assert "requires_grad" not in x
    assert taps["requires_grad"] is False


def test_what_a_file_cannot_hold_is_said(tmp_path):
    (found,) = recorded(tmp_path, "Take.apply(torch.rand(2), len)")
    assert found.cases == []
    assert "builtin_function_or_method" in (found.problem or "")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ("Pair(2, 3)", "a named tuple of type Pair"),
        ("Odd()", "looking at its arguments raised RuntimeError('no entries')"),
    ],
)
def test_why_nothing_was_recorded_is_said(tmp_path, made, words):
    script = f"""
from collections import namedtuple
Pair = namedtuple("Pair", "rise fall")
class Odd(dict):
    def items(self):
        raise RuntimeError("no entries")
Take.apply(torch.rand(2), {made})
"""
    (found,) = recorded(tmp_path, script)
    assert found.cases == []
    assert words in (found.problem or "")


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_a_sparse_tensor_is_not_written(tmp_path):
    call = "Take.apply(torch.rand(2), torch.eye(2).to_sparse())"
    (found,) = recorded(tmp_path, call, engine="torch")
    assert "a tensor of layout sparse_coo" in (found.problem or "")


def test_a_small_call_is_taken_rather_than_an_earlier_large_one(tmp_path):
    loop = "for n in (3000, 30, 20): Take.apply(torch.rand(n, requires_grad=True))"
    (found,) = recorded(tmp_path, loop, limit=2)
    assert [case.args[0]["shape"] for case in found.cases] == [[30], [20]]


@pytest.mark.parametrize(("extents", "kept"), [((3000, 2), [2]), ((3000, 2000), [2000])])
def test_a_large_call_is_taken_only_without_a_small_one(tmp_path, extents, kept):
    loop = f"for n in {extents}: Take.apply(torch.rand(n), n)"
    (found,) = recorded(tmp_path, loop)
    assert [case.args[0]["shape"] for case in found.cases] == [kept]


def test_calls_with_other_options_come_before_other_extents(tmp_path):
    loop = "for n, mode in ((2, 'a'), (3, 'a'), (300, 'b')): Take.apply(torch.rand(n), mode)"
    (found,) = recorded(tmp_path, loop, limit=2)
    assert [case.args[1] for case in found.cases] == ["a", "b"]


@pytest.mark.parametrize(
    "start",
    [
        "import subprocess, sys; subprocess.run([sys.executable, '-c', CODE], check=True)",
        "import os\npid = os.fork()\nif not pid: exec(CODE); os._exit(0)\nos.waitpid(pid, 0)",
    ],
)
def test_child_processes_are_observed(tmp_path, monkeypatch, start):
    monkeypatch.chdir(tmp_path)
    code = "from ops import Take; import torch; Take.apply(torch.rand(4, requires_grad=True))"
    (found,) = recorded(tmp_path, f"CODE = {code!r}\n{start}")
    assert [case.args[0]["shape"] for case in found.cases] == [[4]]


def test_a_sitecustomize_of_the_user_runs_too(tmp_path, monkeypatch):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import builtins; builtins.MINE = 7\n")
    monkeypatch.setenv("PYTHONPATH", str(hidden), prepend=":")
    assert arguments(tmp_path, "Take.apply(x, MINE)")[1] == 7


def test_functions_of_other_folders_are_left_alone(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "ops.py").write_text(OPS)
    script = f"import sys; sys.path.append({str(tmp_path)!r})\n"
    (inner / "script.py").write_text(
        f"{script}import torch\nfrom ops import Take\nTake.apply(torch.rand(2))\n"
    )
    command = [sys.executable, str(inner / "script.py")]
    assert record(command, engine="bundled", limit=5, root=inner) == (0, [])


@pytest.mark.torch
def test_real_torch_is_observed(tmp_path):
    pytest.importorskip("torch")
    assert arguments(tmp_path, "Take.apply(x, torch.tensor([1, 0]))", engine="torch") == (
        X,
        {"values": [1, 0]},
    )


def test_a_command_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no-such-program cannot be run"):
        record(["no-such-program"], engine=None, limit=5, root=tmp_path)


def test_the_exit_code_is_the_commands(tmp_path):
    (tmp_path / "fails.py").write_text("raise SystemExit(3)\n")
    command = [sys.executable, str(tmp_path / "fails.py")]
    assert record(command, engine="bundled", limit=5, root=tmp_path) == (3, [])

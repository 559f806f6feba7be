"""Fault injection: whatever checked code does, it is named, and all else is checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gradtool.results.report import FunctionResult, Report, Verdict
from tests.workers.hostile_functions import GOOD, HOSTILE, HOSTILE_IMPORTS, Hostile, source
from tests.workers.processes import Marked

ROOT = Path(__file__).parents[2]
TIMEOUT = "4"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="isolation needs fork"),
]


def gradtool(folder: Path, marked: Marked, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user would, and see that nothing of it is left."""
    done = subprocess.run(
        [sys.executable, "-m", "gradtool", "check", *arguments, "--report", "json=report.json"],
        cwd=folder,
        env=marked.environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert marked.left() == [], "a process was left behind"
    return done


def read(folder: Path) -> Report:
    return msgspec.json.decode((folder / "report.json").read_bytes(), type=Report)


def codes(function: FunctionResult) -> set[str]:
    checks = [*function.checks, *(check for case in function.cases for check in case.checks)]
    return {finding.rule for check in checks for finding in check.findings}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_every_hostile_function_is_named_and_every_good_one_checked(
    tmp_path: Path, jobs: str
) -> None:
    """One hostile Function to a module, between good ones in the same module and in others."""
    chosen = HOSTILE[:: 1 if jobs == "2" else 3]
    modules = {f"m{i:02}.py": source(GOOD, each) for i, each in enumerate(chosen)}
    write(tmp_path, {**modules, "zz.py": source(GOOD)})
    with Marked() as marked:
        done = gradtool(
            tmp_path, marked, ".", "-j", jobs, "--timeout", TIMEOUT, "--memory-limit", "128MiB"
        )
    assert done.returncode == 1, done.stderr
    report = read(tmp_path)
    found = {
        (module.path, function.name): (function.verdict, codes(function))
        for module, function in report.functions()
    }
    for name in [*modules, "zz.py"]:
        assert found[name, "Good"] == (Verdict.PASS, set())
    for name, hostile in zip(modules, chosen, strict=True):
        expected = (Verdict.ERROR, {hostile.code}) if hostile.code else (Verdict.PASS, set())
        assert found[name, hostile.name] == expected, hostile


def test_many_hostile_functions_of_one_module(tmp_path: Path) -> None:
    quick = [each for each in HOSTILE if each.code in ("GT005", "GT008", None)][::2]
    write(tmp_path, {"ops.py": source(*(f for each in quick for f in (each, GOOD)))})
    text = (tmp_path / "ops.py").read_text()
    for number in range(len(quick)):
        text = text.replace("class Good(Function)", f"class Good{number}(Function)", 1)
    write(tmp_path, {"ops.py": text})
    with Marked() as marked:
        done = gradtool(tmp_path, marked, "ops.py", "-j", "2", "--timeout", "20")
    assert done.returncode == 1, done.stderr
    found = {function.name: codes(function) for _, function in read(tmp_path).functions()}
    for number, each in enumerate(quick):
        assert found[f"Good{number}"] == set()
        assert found[each.name] == ({each.code} if each.code else set()), each


def test_a_module_that_does_not_survive_its_import_is_named(tmp_path: Path) -> None:
    base = "class A(int):\n    pass\n\n\n"
    write(tmp_path, {n: base + text for n, text in HOSTILE_IMPORTS.items()})
    write(tmp_path, {"good.py": source(GOOD)})
    with Marked() as marked:
        done = gradtool(tmp_path, marked, ".", "-j", "2", "--timeout", TIMEOUT)
    assert done.returncode == 4, done.stderr
    report = read(tmp_path)
    broken = {m.path: [f.rule for c in m.checks for f in c.findings] for m in report.modules}
    assert broken == {"good.py": [], **{name: ["GT001"] for name in HOSTILE_IMPORTS}}
    messages = {finding.node_id: finding.message for finding in report.findings()}
    assert messages["import_loops.py::GT001"] == "its import took longer than 4 s and was stopped"
    assert messages["import_segfaults.py::GT001"].startswith(
        "its import crashed its process: SIGSEGV"
    )
    assert messages["import_exits.py::GT001"] == "its import ended the process: exit code 0"


CASES = """
import os
from gradtool import Function, ones

class Third(Function):
    @staticmethod
    def sample_inputs():
        for size in (2, 6, 11, 17, 24):  # The check may evaluate near a size, too.
            yield (ones(size),)

    @staticmethod
    def forward(ctx, x):
        if tuple(x.shape) == (11,):
            os.abort()
        return 2 * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output
"""


def test_only_the_case_is_lost_that_brought_the_process_down(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": CASES})
    with Marked() as marked:
        gradtool(tmp_path, marked, "ops.py", "--select", "GT101")
    ((_, function),) = read(tmp_path).functions()
    assert [case.verdict.value for case in function.cases] == [
        "pass",
        "pass",
        "error",
        "pass",
        "pass",
    ]
    (finding,) = read(tmp_path).findings()
    assert finding.node_id == "ops.py::Third[sample3]::GT005"
    assert finding.message == "the Function crashed its process: SIGABRT (Aborted)"
    assert (finding.location.path, finding.location.line) == ("ops.py", 14)
    assert finding.detail is not None
    assert 'ops.py", line 14 in forward' in finding.detail


def test_what_was_printed_is_passed_on_and_does_not_mix_with_the_report(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": source(Hostile("Talks", "print('says the Function')", None))})
    with Marked() as marked:
        done = gradtool(tmp_path, marked, "ops.py", "--report", "json=-", "-q")
    assert "says the Function" in done.stderr
    assert json.loads(done.stdout)["schema"]


def comparable(report: Report) -> Any:
    """A report without checks that depend on the clock."""
    plain = msgspec.to_builtins(report)
    for module in plain["modules"]:
        for function in module.get("functions", ()):
            for case in function.get("cases", ()):
                case.pop("seconds", None)
    return plain["modules"]


def test_results_do_not_depend_on_processes(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": source(GOOD), "exp.py": (ROOT / "samples/exp.py").read_text()})
    wrong = source(GOOD).replace("2 * grad_output", "3 * grad_output").replace("Good", "Wrong")
    write(tmp_path, {"wrong.py": wrong})
    found = []
    with Marked() as marked:
        for arguments in (["-j", "1"], ["-j", "3"], ["--no-isolation"]):
            gradtool(tmp_path, marked, ".", *arguments)
            found.append(comparable(read(tmp_path)))
    assert found[0] == found[1] == found[2]
    assert Counter(len(module["functions"]) for module in found[0]) == {1: 3}


@pytest.mark.parametrize("timeout", ["2200000", "1e10", "1e308"])
def test_a_timeout_longer_than_timers_go_is_none(tmp_path: Path, timeout: str) -> None:
    write(tmp_path, {"good.py": source(GOOD)})
    with Marked() as marked:
        done = gradtool(tmp_path, marked, "good.py", "-j", "1", "--timeout", timeout)
    assert (done.returncode, done.stderr) == (0, "")

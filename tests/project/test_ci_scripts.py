"""The scripts that decide whether CI passes can also fail."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).resolve().parents[2] / ".ci"


def run(script: str, *args: Path | str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CI / script), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def junit(folder: Path, *, tests: int, failures: int = 0, skipped: int = 0) -> Path:
    path = folder / "junit.xml"
    counts = f'tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}"'
    path.write_text(f"<testsuites><testsuite {counts}/></testsuites>", encoding="utf-8")
    return path


def test_tests_are_counted_by_outcome(tmp_path: Path) -> None:
    counted = run("count_tests.py", junit(tmp_path, tests=10, failures=2, skipped=3))
    assert (counted.returncode, counted.stdout) == (0, "5 2\n")


@pytest.mark.parametrize("tests", [0, 4])
def test_a_run_in_which_no_test_ran_is_an_error(tmp_path: Path, tests: int) -> None:
    counted = run("count_tests.py", junit(tmp_path, tests=tests, skipped=tests))
    assert counted.returncode == 1
    assert f"no test ran ({tests} skipped)" in counted.stderr


def test_a_run_that_wrote_no_report_is_an_error(tmp_path: Path) -> None:
    counted = run("count_tests.py", tmp_path / "junit.xml")
    assert counted.returncode == 1
    assert "junit.xml was not written" in counted.stderr


def test_failures_are_repeated_where_a_report_was_written(tmp_path: Path) -> None:
    failed = '<testcase classname="tests.a" name="test_b"><failure>first\nlast</failure></testcase>'
    written = tmp_path / "junit.xml"
    written.write_text(f"<testsuites><testsuite>{failed}</testsuite></testsuites>")
    told = run("count_tests.py", "--failures", written, tmp_path / "missing.xml")
    assert (told.returncode, told.stdout) == (0, "-- tests.a::test_b\nfirst\nlast\n")


@pytest.mark.parametrize(
    ("found", "status"),
    [(["GT101"], 0), (["GT101", "GT101"], 0), ([], 1), (["GT202"], 1), (["GT101", "GT202"], 1)],
)
def test_findings_must_be_the_declared_ones(tmp_path: Path, found: list[str], status: int) -> None:
    (tmp_path / "cube.py").write_text('"""Trips GT101: a factor."""\n', encoding="utf-8")
    checks = [{"rule": rule, "findings": [{"rule": rule}]} for rule in found]
    report = {"modules": [{"path": "x/cube.py", "functions": [{"cases": [{"checks": checks}]}]}]}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    assert run("declared_findings.py", path, tmp_path).returncode == status


def test_a_module_that_declares_nothing_does_not_pass(tmp_path: Path) -> None:
    (tmp_path / "cube.py").write_text('"""Right."""\n', encoding="utf-8")
    path = tmp_path / "report.json"
    path.write_text('{"modules": [{"path": "cube.py"}]}', encoding="utf-8")
    assert run("declared_findings.py", path, tmp_path).returncode == 1


def test_a_command_that_the_readme_lacks_is_an_error() -> None:
    asked = run("readme_command.py", "deploy")
    assert asked.returncode == 1
    assert "`command: deploy`" in asked.stderr

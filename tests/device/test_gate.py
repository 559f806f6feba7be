"""``--device cuda`` checks on the device, and finds there what it finds on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.results.report import Report, Verdict
from gradtool.run.runner import check
from gradtool.verify.rules import RULES
from tests.options import check_options

SAMPLES = Path(__file__).resolve().parents[2] / "samples"

pytestmark = pytest.mark.usefixtures("cupy")


def verdicts(report: Report) -> dict[str, Verdict]:
    return {
        f"{module.path}::{function.name}": function.verdict
        for module in report.modules
        for function in module.functions
    }


def codes(report: Report) -> list[str]:
    return sorted(finding.rule for finding in report.findings())


def test_the_samples_pass_but_for_the_one_that_is_written_for_host_memory() -> None:
    report = check(check_options(paths=(str(SAMPLES),), device="cuda"))
    found = verdicts(report)
    assert len(found) >= 13
    failed = {name for name, verdict in found.items() if verdict is not Verdict.PASS}
    assert [name.rpartition("::")[2] for name in failed] == ["Inplace"]  # takes x.numpy()


def test_the_wrong_samples_break_the_same_rules() -> None:
    here, there = (
        codes(check(check_options(paths=(str(SAMPLES / "wrong"),), device=device)))
        for device in ("cpu", "cuda")
    )
    assert here
    assert there == here


@pytest.mark.parametrize(("example", "found"), [("wrong", {"GT701"}), ("right", set())])
def test_both_devices_are_compared(example, found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = getattr(RULES["GT701"], example)
    (tmp_path / "scale.py").write_text(source)
    report = check(check_options(paths=("scale.py",), device="cuda", seed=0))
    assert {finding.rule for finding in report.findings()} == found
    (asked,) = [each for each in report.checks() if each.rule == "GT701"]
    assert asked.verdict is (Verdict.FAIL if found else Verdict.PASS)


def test_a_run_on_the_cpu_compares_no_devices(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scale.py").write_text(RULES["GT701"].wrong)
    report = check(check_options(paths=("scale.py",), seed=0))
    assert list(report.findings()) == []

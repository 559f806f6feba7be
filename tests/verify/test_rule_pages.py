"""The examples of every rule's page, checked by the gate as a user would check them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.run.runner import check
from gradtool.verify.rules import RULES
from tests.options import check_options

NEEDS_A_PROCESS = ("GT005", "GT009", "GT006", "GT007", "GT008")
"""Their wrong examples would end this one, or change it."""


def _found(code: str, source: str, folder: Path) -> set[str]:
    """The codes of the rules that the gate finds broken in a module."""
    module = folder / "example.py"
    module.write_text(source)
    isolation = code in NEEDS_A_PROCESS
    timeout = 3.0 if code == "GT006" else None
    options = check_options(paths=(str(module),), seed=0, isolation=isolation, timeout=timeout)
    report = check(options)
    assert list(report.checks())
    return {finding.rule for finding in report.findings()}


NEEDS_A_DEVICE = ("GT701", "GT702")
"""What is wrong with their examples shows on CUDA only: see ``tests/device/test_gate.py``."""


@pytest.mark.parametrize("code", [code for code in RULES if code not in NEEDS_A_DEVICE])
def test_the_wrong_example_breaks_this_rule_alone(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _found(code, RULES[code].wrong or "", tmp_path) == {code}


@pytest.mark.parametrize("code", RULES)
def test_the_right_example_breaks_none(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _found(code, RULES[code].right or "", tmp_path) == set()

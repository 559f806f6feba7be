"""Findings that exist at the base commit are known."""

from __future__ import annotations

from pathlib import Path

from gradtool.policy.base_commit_findings import BaseFindings, mark_known_at_base
from gradtool.policy.baseline import Baseline, entries_of
from gradtool.results.report import (
    Verdict,
)
from tests.policy import reports


def test_findings_that_exist_at_the_base_commit_are_marked() -> None:
    raw = reports.report(reports.function(reports.check("GT101", Verdict.FAIL, reports.finding())))
    empty = Baseline(Path("gradtool-baseline.json").absolute())
    full = empty.joined(frozenset(entries_of(empty, raw).values()))
    judged = mark_known_at_base(lambda _: BaseFindings("main", "0123456789abcdef", full))(raw)
    assert [f.known for f in judged.findings()] == [True]
    line = "--baseline-commit main: 1 of 1 finding already present at 0123456789ab"
    assert judged.notices == (line,)
    assert mark_known_at_base(lambda _: None)(raw).interrupted

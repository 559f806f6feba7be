"""``--replay``: findings that can be reproduced, and their sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gradtool.config.options import CheckOptions
from gradtool.errors import UsageError
from gradtool.policy import last_run
from gradtool.policy.last_run import (
    FINDINGS_FILE,
    KnownFinding,
    findings_text,
    known_findings,
    read_findings,
    updated_findings,
)
from gradtool.policy.replay import replaying
from gradtool.report.findings import problems
from gradtool.results.report import Report
from gradtool.run.merging import read_part


def replayed(options: CheckOptions, finding: str, *, last_failed: bool) -> CheckOptions:
    """The options that ask for the finding `finding`; their paths were JSON reports that have it.

    Raises:
        UsageError: There is no such finding, or it cannot be read.
    """
    if last_failed:
        raise UsageError("--replay checks one finding: omit --lf")
    if not options.selection.paths:
        return replaying(options, finding, _of_last_run(), None)
    return replaying(
        options, finding, _of_reports(options.selection.paths), ", ".join(options.selection.paths)
    )


def _of_reports(names: Sequence[str]) -> list[KnownFinding]:
    return [each for name in names for each in _all(read_part(name).report)]


def _all(report: Report) -> tuple[KnownFinding, ...]:
    return known_findings(problems(report, known=True), report.seed)


def _of_last_run() -> tuple[KnownFinding, ...]:
    try:
        return read_findings(Path())
    except last_run.UnreadableError as error:
        raise UsageError(
            f"--replay: {last_run.FOLDER}/{FINDINGS_FILE} cannot be used: {error}; "
            "name a JSON report instead"
        ) from None


def cached(report: Report) -> dict[str, str]:
    """The file of the cache that has the findings, as it is after the run of `report`.

    Empty where it need not be written.
    """
    before: tuple[KnownFinding, ...] | None
    try:
        before = read_findings(Path())
    except last_run.UnreadableError:
        before = None  # It is recreated.
    after = updated_findings(before or (), report, _all(report))
    return {} if after == before else {FINDINGS_FILE: findings_text(after)}

"""The exit codes of ``gradtool``, which scripts and CI jobs may rely on.

1 means that the checked code is wrong; 2 and above, that gradtool could not do its job.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator

from gradtool.report.verdicts import STOPPING, answers, overall, standing
from gradtool.results.report import CheckResult, ModuleResult, Report
from gradtool.sandbox.interrupts import ended_by


class ExitCode(enum.IntEnum):
    """The exit code of the process."""

    PASSED = 0
    """Everything that was checked is right."""
    FAILED = 1
    """At least one Function is wrong, unverified, or brought its process down."""
    USAGE = 2
    """The command line or the configuration is wrong, or a requested device is not there."""
    INTERNAL = 3
    """A fault of gradtool itself."""
    NOT_IMPORTED = 4
    """At least one module could not be imported."""
    NOTHING_CHECKED = 5
    """There was nothing to check, or all of it was skipped."""
    HUNG_UP = 129
    """Interrupted because the terminal is gone, by SIGHUP."""
    INTERRUPTED = 130
    """Stopped from outside before the end."""
    TERMINATED = 143
    """Interrupted by SIGTERM, as when a CI job is called off."""


def interrupted() -> ExitCode:
    """The exit code of a command that was interrupted: 128 and the number of the signal."""
    number = ended_by()
    return ExitCode.INTERRUPTED if number is None else ExitCode(128 + number)


def exit_code(report: Report, *, strict: bool) -> ExitCode:
    """The exit code for a run that finished or was interrupted.

    Args:
        report: What the run found out.
        strict: Whether warnings fail the run.
    """
    from gradtool.verify.rules import codes  # Not needed to print the help.

    if report.interrupted:
        return interrupted()
    # Before the verdicts: where gradtool itself failed they are incomplete.
    if report.faults:
        return ExitCode.INTERNAL
    stopped = list(_stopping(report, strict))
    if any(_is_misconfigured(check, report) for check in stopped):
        return ExitCode.USAGE
    stopping = {check.rule for check in stopped}
    if stopping - {codes.NOT_IMPORTED} or report.unmet:
        return ExitCode.FAILED
    if stopping:
        return ExitCode.NOT_IMPORTED
    if any(answers(check) for check in report.checks()) or _may_be_empty(report):
        return ExitCode.PASSED
    return ExitCode.NOTHING_CHECKED


def _may_be_empty(report: Report) -> bool:
    """Return True if nothing is left to check, as it should be."""
    if any(report.functions()):
        return False
    return report.may_be_empty or _is_elsewhere(report)


def _is_elsewhere(report: Report) -> bool:
    """Return True if everything to check is in other shards."""
    return report.shard is not None and bool(report.shard.nodes) and not report.modules


def _stopping(report: Report, strict: bool) -> Iterator[CheckResult]:
    for check in report.checks():
        if standing(check, strict=strict) in STOPPING:
            yield check


def _is_misconfigured(check: CheckResult, report: Report) -> bool:
    """Return True if a part of the configuration does not fit its Function."""
    from gradtool.verify.rules import codes

    places = (finding.location.path for finding in check.findings)
    return check.rule == codes.NO_CASE and any(place in report.configs for place in places)


def collected_code(modules: Iterable[ModuleResult], *, may_be_empty: bool = False) -> ExitCode:
    """The exit code for a listing of cases: it fails where a check could not even begin.

    Args:
        modules: What was found.
        may_be_empty: Having found no Function is right.
    """
    listed = list(modules)
    if any(overall(module.checks, strict=False) in STOPPING for module in listed):
        return ExitCode.NOT_IMPORTED
    functions = [function for module in listed for function in module.functions]
    if not any(function.cases for function in functions) and (functions or not may_be_empty):
        return ExitCode.NOTHING_CHECKED
    return ExitCode.PASSED

"""What a run must have checked, so that a gate cannot be passed by checking less.

A Function counts as checked when at least one of its cases was answered. It has double
backward when GT201 passed at one case; a Function without, be it declared
``once_differentiable`` or not, is excused only where GT201 is ignored for a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gradtool.config.options import CheckOptions
from gradtool.errors import UsageError
from gradtool.results.report import (
    DOUBLE_BACKWARD,
    Family,
    FunctionResult,
    ModuleResult,
    Report,
    Verdict,
)

_NAMED = 5
"""Functions that a line names before it only counts the others."""


def refuse_parts(options: CheckOptions) -> None:
    """Refuse to require a number of Functions of a part of a run.

    Raises:
        UsageError: The options ask for that.
    """
    parts = {
        "--shard": options.shard,
        "--changed-since": options.changed_since,
        "--lf": options.only_failed,
        "-k": options.keyword,
    }
    for flag, value in parts.items():
        if options.require_functions is not None and value is not None:
            more = "; gradtool merge takes it" if flag == "--shard" else ""
            raise UsageError(f"--require-functions is of whole runs: leave {flag} away{more}")


def held_to(report: Report, functions: int | None, double_backward: bool) -> Report:
    """The report with a line for each thing that is required and not there.

    Args:
        report: What was found out.
        functions: How many must have been checked.
        double_backward: Every one must have it, or be excused.
    """
    lines = tuple(_unmet(report.modules, functions, double_backward))
    new = tuple(line for line in lines if line not in report.unmet)
    return msgspec.structs.replace(
        report, unmet=(*report.unmet, *new), notices=(*report.notices, *new)
    )


def _unmet(
    modules: Sequence[ModuleResult], functions: int | None, double_backward: bool
) -> tuple[str, ...]:
    return (*_too_few(modules, functions), *(_first_order(modules) if double_backward else ()))


def _too_few(modules: Sequence[ModuleResult], required: int | None) -> Iterator[str]:
    checked = sum(_is_checked(function) for _, function in _each(modules))
    if required is not None and checked < required:
        yield f"--require-functions {required}: only {checked} checked"


def _is_checked(function: FunctionResult) -> bool:
    answers = (check for case in function.cases for check in case.checks)
    return any(c.verdict is not Verdict.SKIPPED and c.rule not in Family.RUNNING for c in answers)


def _first_order(modules: Sequence[ModuleResult]) -> Iterator[str]:
    lacking = [f"{path}::{f.name}" for path, f in _each(modules) if not _has_second(f)]
    if lacking:
        more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
        listed = ", ".join(lacking[:_NAMED])
        yield f"--require-double-backward: not passed and not ignored for a reason: {listed}{more}"


def _has_second(function: FunctionResult) -> bool:
    checks = [check for case in function.cases for check in case.checks]
    return any(
        check.verdict is Verdict.PASS or (check.skip is not None and check.skip.is_ignored)
        for check in checks
        if check.proves == DOUBLE_BACKWARD
    )


def _each(modules: Sequence[ModuleResult]) -> Iterator[tuple[str, FunctionResult]]:
    for module in modules:
        for function in module.functions:
            yield module.path, function

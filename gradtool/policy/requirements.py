"""Require a run to have checked enough, so that a gate cannot be passed by checking less.

A Function counts as checked when entries of its derivative were compared at one of its cases. It
has double backward when GT201 passed at one case; a Function without, be it declared
``once_differentiable`` or not, is excused only where GT201 is ignored for a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gradtool.config.options import Requirements
from gradtool.policy.changes import Policy, add_notices
from gradtool.results.report import (
    DOUBLE_BACKWARD,
    FunctionResult,
    ModuleResult,
    Report,
    Verdict,
)
from gradtool.verify.rules import codes

_NAMED = 5
"""Functions that a line names before it only counts the others."""


def enforce_requirements(requirements: Requirements) -> Policy:
    """Add a line for each requirement that is not met."""

    def policy(report: Report) -> Report:
        unmet = _unmet(report, requirements)
        new = tuple(line for line in unmet if line not in report.unmet)
        return add_notices(msgspec.structs.replace(report, unmet=(*report.unmet, *new)), new)

    return policy


def _unmet(report: Report, requirements: Requirements) -> Iterator[str]:
    yield from _too_few(report, requirements.functions)
    if requirements.double_backward:
        yield from _first_order(report.modules)


def _too_few(report: Report, required: int | None) -> Iterator[str]:
    checked = sum(_is_checked(function) for _, function in report.functions())
    if required is not None and checked < required:
        had = "1 Function" if checked == 1 else f"{checked} Functions"
        is_off = codes.WRONG_GRADIENT in report.left_out
        why = f", and {codes.WRONG_GRADIENT} is excluded by --select or --ignore" if is_off else ""
        yield f"--require-functions {required}: only {had} had a gradient compared{why}"


def _is_checked(function: FunctionResult) -> bool:
    return any(case.compared for case in function.cases)


def _first_order(modules: Sequence[ModuleResult]) -> Iterator[str]:
    without = [f"{path}::{f.name}" for path, f in _each(modules) if not _has_second(f)]
    if without:
        more = f" and {len(without) - _NAMED} more" if len(without) > _NAMED else ""
        listed = ", ".join(without[:_NAMED])
        yield f"--require-double-backward: double backward does not pass: {listed}{more}"


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

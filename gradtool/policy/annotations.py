"""Add what a report needs to be understood: hints, gradtool's own failures, the rules it names."""

from __future__ import annotations

import re

import msgspec

from gradtool.policy.changes import add_notices, also_hinted, change_functions
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Finding,
    FunctionResult,
    Report,
    Verdict,
)
from gradtool.verify.rules import RULES, codes

_INFERRED = (
    "the arguments were inferred: if they make no sense, write a case in gradtool.yaml or "
    "sample_inputs"
)


_LACKING = re.compile(r"gradtool's engine (has no|runs on NumPy)|a stand-in was used instead")
"""In the message of a finding: no arguments would help, for something is not there."""

_NOT_INSTALLED = re.compile(r"([\w.]+) is not installed; a stand-in was used instead")
"""In such a message: the name that a package would have."""

_ELSEWHERE = "check it with --engine torch, or install what it needs"


def hint_at_inferred_arguments(report: Report) -> Report:
    """Say where a backward raised for arguments that nobody chose."""

    def function(_: str, result: FunctionResult) -> FunctionResult:
        cases = tuple(map(_with_hints, result.cases))
        return msgspec.structs.replace(result, cases=cases)

    return change_functions(report, function)


def _with_hints(case: CaseResult) -> CaseResult:
    if case.source != "inferred" or case.inferred_from is not None:
        return case
    return msgspec.structs.replace(case, checks=tuple(map(_with_hint, case.checks)))


def _with_hint(check: CheckResult) -> CheckResult:
    if check.rule != codes.BACKWARD_RAISED:
        return check
    findings = tuple(map(_hinted, check.findings))
    return msgspec.structs.replace(check, findings=findings)


def _hinted(finding: Finding) -> Finding:
    if missing := _NOT_INSTALLED.search(finding.message):
        return also_hinted(finding, f"install the package that provides `{missing[1]}`")
    return also_hinted(finding, _ELSEWHERE if _LACKING.search(finding.message) else _INFERRED)


def warn_of_faults(report: Report) -> Report:
    """Add a notice for each Function at which gradtool itself failed."""
    lines = (f"warning: gradtool itself failed at {f.node}: {f.summary}" for f in report.faults)
    return add_notices(report, lines)


def describe_rules(report: Report) -> Report:
    """Describe every rule that did not simply pass somewhere or was timed, by code."""
    named = {check.rule for check in report.checks() if check.findings or _is_notable(check)}
    for _, function in report.functions():
        named.update(*[case.durations for case in function.cases])
    infos = tuple(RULES[code].info for code in sorted(named))
    return msgspec.structs.replace(report, rules=infos)


def _is_notable(check: CheckResult) -> bool:
    return check.verdict not in (Verdict.PASS, Verdict.SKIPPED)

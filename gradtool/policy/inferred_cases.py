"""Doubt failures of arguments that were read from the source, unless all of them fail alike.

Nobody chose these arguments: they may be ones for which the Function is not meant. What is wrong
at all of them, which differ in extents or values, is taken to be wrong if the source states each
argument.
"""

from __future__ import annotations

import msgspec

from gradtool.policy.changes import also_hinted, change_functions
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Finding,
    FunctionResult,
    Report,
    Verdict,
)
from gradtool.verify.rules import codes

_HINT = "if they make no sense, write a case in gradtool.yaml or sample_inputs"

_ALONE = "the arguments were inferred, and no other case confirms the finding"


def doubt_lone_failures(report: Report) -> Report:
    """Turn failures at only some of the inferred arguments into unverified checks.

    Findings at all of them stay, with a hint at where the arguments come from.
    """

    def function(_: str, result: FunctionResult) -> FunctionResult:
        read = [case for case in result.cases if case.inferred_from is not None]
        if not read:
            return result
        counts = len(read) > 1 and not any(case.is_guess for case in read)
        alike = frozenset.intersection(*map(_failed, read)) if counts else frozenset[str]()
        cases = tuple(_doubted(case, alike) for case in result.cases)
        return msgspec.structs.replace(result, cases=cases)

    return change_functions(report, function)


def _failed(case: CaseResult) -> frozenset[str]:
    return frozenset(check.rule for check in case.checks if check.verdict is Verdict.FAIL)


def _doubted(case: CaseResult, alike: frozenset[str]) -> CaseResult:
    if case.inferred_from is None:
        return case
    checks = (_check(check, case, case.inferred_from, alike) for check in case.checks)
    return msgspec.structs.replace(case, checks=tuple(checks))


def _check(
    check: CheckResult, case: CaseResult, evidence: str, alike: frozenset[str]
) -> CheckResult:
    findings = tuple(_hinted(finding, evidence) for finding in check.findings)
    hinted = msgspec.structs.replace(check, findings=findings)
    has_raised = check.rule == codes.BACKWARD_RAISED and bool(check.findings)
    # A solver may go on and on for equations that have no solution.
    is_stopped = check.rule == codes.TIMED_OUT and case.is_guess
    is_doubtful = check.verdict is Verdict.FAIL or has_raised or is_stopped
    is_open = check.verdict in (Verdict.PASS, Verdict.SKIPPED) or not is_doubtful
    if is_open or check.rule in alike:
        return hinted
    return msgspec.structs.replace(hinted, verdict=Verdict.UNVERIFIED, reason=_ALONE)


def _hinted(finding: Finding, evidence: str) -> Finding:
    advice = f"its arguments were inferred from {evidence}: {_HINT}"
    return also_hinted(finding, advice)

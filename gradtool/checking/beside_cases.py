"""The Function beyond its cases: explored once all of them have passed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from warnings import catch_warnings, simplefilter

from gradtool.adapters.common.random_state import global_generators
from gradtool.checking.function_checks import Checked
from gradtool.checking.plan import PlannedFunction
from gradtool.results.report import CheckResult, Coverage, Severity, Verdict
from gradtool.sandbox.termination import Terminated, user_code
from gradtool.sandbox.timeout import time_limit
from gradtool.verify.rules import codes

_FINE = (Verdict.PASS, Verdict.SKIPPED)
_BESIDE_THE_GRADIENT = frozenset({codes.KEPT_ON_CTX, codes.LEAK})
"""Rules whose warnings say nothing about the derivatives."""


def explored(
    planned: PlannedFunction,
    cases: Sequence[Checked],
    left: float | None,
    tell: Callable[[str], None],
) -> tuple[list[CheckResult], Coverage | None]:
    """Find arguments, other than those of the cases, at which the Function is wrong.

    A Function that is wrong at a case is left alone, and so is one that computes in less than the
    arguments say. Where its time runs out, only what was found before is said: that it is slow at
    arguments that nobody gave is no mistake.

    `tell` hears what is tried. Returns the checks, and the branches that were covered if exploring
    came to its end.
    """
    settings, checkable = planned.unit.settings, planned.checkable
    if settings.explore == "off" or not settings.witness:
        return [], None
    is_surrogate = any(_is_documented(check) for case in cases for check in case.result.checks)
    if not _may_be_explored(planned, cases, is_surrogate=is_surrogate):
        return [], None
    from gradtool.explore.explorer import Found, explore
    from gradtool.explore.findings import results
    from gradtool.explore.surrogates import explore_surrogate

    found: Found = {}
    node = planned.unit.node
    try:
        with (
            user_code(settings, checkable.folder),
            time_limit(left),
            global_generators(planned.cases[0].seed),
            catch_warnings(),
        ):
            simplefilter("ignore")  # Nobody gave these arguments.
            if is_surrogate:
                discovered = explore_surrogate(checkable, planned.cases, settings)
                return results(node, checkable, discovered, settings), None
            discovered, coverage = explore(checkable, planned.cases, settings, tell, found)
            return results(node, checkable, discovered, settings), coverage
    except Terminated:
        return results(node, checkable, list(found.values()), settings), None


def _may_be_explored(
    planned: PlannedFunction, cases: Sequence[Checked], *, is_surrogate: bool
) -> bool:
    """Return True for a Function that is right at every case that it has.

    Args:
        planned: The Function.
        cases: Its cases.
        is_surrogate: A docstring says that its gradient is a surrogate.
    """
    is_whole = not planned.deselected and not planned.unit.only
    return (
        bool(cases)
        and is_whole
        and planned.checkable.is_function
        and all(case.is_complete and (case.result.compared or is_surrogate) for case in cases)
        # One wrong result is no evidence there (see `policy.inferred_cases`).
        and not any(case.result.is_guess for case in cases)
        and all(
            _is_fine(check) or (is_surrogate and _is_documented(check))
            for case in cases
            for check in case.result.checks
        )
    )


def _is_documented(check: CheckResult) -> bool:
    """Return True for a check that finds surrogates, of which a docstring speaks."""
    return (
        check.rule == codes.SURROGATE
        and bool(check.findings)
        and all(each.severity is Severity.NOTE for each in check.findings)
    )


def _is_fine(check: CheckResult) -> bool:
    """Return True for a check that leaves the derivatives right.

    A surrogate is no derivative, at other arguments either, even if a docstring declares it.
    """
    is_warning = check.rule in _BESIDE_THE_GRADIENT and not any(
        each.severity is Severity.ERROR for each in check.findings
    )
    is_surrogate = check.rule == codes.SURROGATE and bool(check.findings)
    return (check.verdict in _FINE and not is_surrogate) or is_warning

"""Skipped checks, as reports of tests have them."""

from gradtool.results.report import CheckResult, Skip, SkipKind, Verdict


def skipped_check(rule: str, why: str, proves: str | None = None) -> CheckResult:
    """A check of `rule` that had nothing to check."""
    skip = Skip(kind=SkipKind.INAPPLICABLE, detail=why)
    return CheckResult(rule=rule, verdict=Verdict.SKIPPED, skip=skip, proves=proves)

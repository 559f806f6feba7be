"""Reasons of checks in words: why one was skipped, is unverified, or passed as declared."""

from __future__ import annotations

from gradtool.results.report import CheckResult, Skip, SkipKind


def reason(check: CheckResult) -> str | None:
    """The reason that a check gives, if it has any."""
    return skip_reason(check.skip) if check.skip else check.reason


def skip_reason(skip: Skip) -> str:
    """The words for a skip: ``blocked by GT101``, ``no jvp``."""
    detail = skip.detail or ""
    match skip.kind:
        case SkipKind.BLOCKED:
            return f"blocked by {skip.blocked_by}"
        case SkipKind.REPORTED:
            return f"{detail}: see {skip.blocked_by}" if detail else f"see {skip.blocked_by}"
        case SkipKind.NOT_OFFERED | SkipKind.INAPPLICABLE:
            return detail
        case SkipKind.IGNORED:
            return f"ignored by the configuration: {detail}"
        case SkipKind.IGNORED_BY_COMMENT:
            return f"ignored by a comment on line {skip.line}: {detail}"
        case SkipKind.LEFT_OUT:
            return "excluded by an option"
        case SkipKind.OUT_OF_TIME:
            return "earlier cases used up the time limit of the Function"
        case SkipKind.NOT_ASKED:
            return "not requested"

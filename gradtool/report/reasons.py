"""Reasons of checks in words: why one was skipped, is unverified, or passed as declared."""

from __future__ import annotations

from gradtool.results.report import CheckResult, Skip, SkipKind


def reason(check: CheckResult, path: str = "") -> str | None:
    """The reason that a check gives, if it has any; lines are those of `path`."""
    return skip_reason(check.skip, path) if check.skip else check.reason


def skip_reason(skip: Skip, path: str = "") -> str:
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
            where = f"{path}:{skip.line}" if path else f"line {skip.line}"
            return f"ignored by a comment on {where}: {detail}"
        case SkipKind.LEFT_OUT:
            return "excluded by an option"
        case SkipKind.OUT_OF_TIME:
            return "earlier cases used up the time limit of the Function"
        case SkipKind.NOT_ASKED:
            return "not requested"

"""Facts about rules that reports carry, and reasons to skip one, as data.

`gradtool.report.reasons` puts the reasons into words.

Other packages import these types from `gradtool.results.report`.
"""

from __future__ import annotations

import enum

from gradtool.results.evidence import Struct

DOUBLE_BACKWARD = "double backward"
"""The derivative that ``--require-double-backward`` asks for, as `CheckResult.proves` names it."""


class Severity(enum.Enum):
    """The effect of a violated rule on the run."""

    ERROR = "error"
    """Fails the run."""
    WARNING = "warning"
    """Fails the run under ``--strict``."""
    NOTE = "note"
    """Never fails the run."""


class Family(enum.Enum):
    """The group that the first three characters of a rule's code name."""

    RUNNING = "GT0"
    """Rules that report whether there was anything to check. No selection leaves them out."""
    GRADIENT = "GT1"
    DOUBLE_BACKWARD = "GT2"
    FORWARD_MODE = "GT3"
    BATCHING = "GT4"
    CONTRACT = "GT5"
    NUMERICS = "GT6"
    DEVICES = "GT7"

    def __contains__(self, code: str) -> bool:
        return code.startswith(self.value)


class RuleInfo(Struct, frozen=True, kw_only=True):
    """A description of a rule, so that a report can be read without the program."""

    code: str
    name: str
    severity: Severity
    summary: str
    page: str = ""
    """The text that ``gradtool explain`` prints."""


class SkipKind(enum.Enum):
    """The kind of reason why a check was skipped."""

    BLOCKED = "blocked"
    """A rule that this one rests on is broken: `Skip.blocked_by`."""
    REPORTED = "reported"
    """Another rule reports the same problem: `Skip.blocked_by`."""
    NOT_OFFERED = "not-offered"
    """The Function lacks what the rule is about, so that nothing is left unchecked."""
    INAPPLICABLE = "inapplicable"
    """The case gives the rule nothing to check."""
    IGNORED = "ignored"
    """The configuration ignores the rule, and says why."""
    IGNORED_BY_COMMENT = "ignored-by-comment"
    """A comment in the source ignores the rule, and says why."""
    LEFT_OUT = "left-out"
    """An option leaves the rule out."""
    OUT_OF_TIME = "out-of-time"
    """An earlier case used up the time of the Function."""
    NOT_ASKED = "not-asked"
    """Nothing asked for it."""


class Skip(Struct, frozen=True, kw_only=True):
    """The reason why a check was skipped."""

    kind: SkipKind
    blocked_by: str | None = None
    """The code of the rule that is broken, or that reports the problem."""
    detail: str | None = None
    """A phrase: the user's own reason, or why there is nothing to check."""
    line: int | None = None
    """The line of the comment."""

    @property
    def is_ignored(self) -> bool:
        """Return True if the user ignores the rule and says why."""
        return self.kind in (SkipKind.IGNORED, SkipKind.IGNORED_BY_COMMENT)

    @property
    def leaves_nothing(self) -> bool:
        """Return True if nothing can be found while the reason holds."""
        return self.is_ignored or self.kind is SkipKind.NOT_OFFERED

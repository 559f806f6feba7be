"""A rule: a code, a page, facts, and a check that it makes of a `Subject`."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from inspect import cleandoc
from typing import TYPE_CHECKING

import msgspec

from gradtool.results.report import Evidence, RuleInfo, Severity, Skip, SkipKind, Verdict

if TYPE_CHECKING:
    from gradtool.verify.protocol.observation import Failure, FailureKind
    from gradtool.verify.subject import Subject


class Flaw(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that breaks a rule."""

    message: str
    """One line that states the mistake and its place."""
    evidence: Evidence | None = None
    hint: str | None = None
    """Advice."""
    detail: str | None = None
    """More lines, usually a traceback."""
    path: str | None = None
    line: int | None = None
    """The user's line, if it is known more precisely than as the Function."""
    method: str | None = None
    """The wrong method, for rules that are about several."""
    severity: Severity | None = None
    """Overrides the rule's severity."""
    step: tuple[str, int] | None = None
    """The file and the line of the step of forward that the hint names."""
    is_derivable: bool = False
    """Forward consists of steps from which a right backward can be derived."""


class Answer(msgspec.Struct, frozen=True):
    """The answer of a rule about a subject."""

    verdict: Verdict
    reason: str | None = None
    """Why it is unverified, or passed all the same."""
    flaws: tuple[Flaw, ...] = ()
    skip: Skip | None = None
    """Why it was skipped."""


def passed(reason: str | None = None) -> Answer:
    """The rule holds."""
    return Answer(Verdict.PASS, reason)


def skipped(why: str) -> Answer:
    """The case gives the rule nothing to check, for the reason that the phrase `why` states."""
    return _skipped(Skip(kind=SkipKind.INAPPLICABLE, detail=why))


def not_offered(why: str) -> Answer:
    """The rule is about something that the Function, or the run, does not have: ``no jvp``."""
    return _skipped(Skip(kind=SkipKind.NOT_OFFERED, detail=why))


def blocked(code: str) -> Answer:
    """A rule that this one rests on is broken."""
    return _skipped(Skip(kind=SkipKind.BLOCKED, blocked_by=code))


def reported_by(code: str, what: str | None = None) -> Answer:
    """Another rule reports the problem."""
    return _skipped(Skip(kind=SkipKind.REPORTED, blocked_by=code, detail=what))


def _skipped(skip: Skip) -> Answer:
    return Answer(Verdict.SKIPPED, skip=skip)


def unverified(reason: str, *flaws: Flaw) -> Answer:
    """The evidence does not show whether the rule holds."""
    return Answer(Verdict.UNVERIFIED, reason, flaws)


def failed(*flaws: Flaw) -> Answer:
    """The rule is broken, unless all flaws are notes."""
    noted = all(flaw.severity is Severity.NOTE for flaw in flaws)
    return Answer(Verdict.PASS if noted else Verdict.FAIL, None, flaws)


def raised(failure: Failure, message: str, hint: str | None = None) -> Answer:
    """The user's code stopped the check."""
    return Answer(Verdict.ERROR, None, (flaw_of(failure, message, hint),))


def flaw_of(failure: Failure, message: str, hint: str | None = None) -> Flaw:
    """A flaw at the place in the user's code where something failed."""
    return Flaw(
        message=message,
        hint=hint,
        detail=failure.traceback or None,
        path=failure.path,
        line=failure.line,
    )


class Scope(enum.Enum):
    """The thing that a rule is checked for."""

    MODULE = enum.auto()
    FUNCTION = enum.auto()
    """A Function, before any of its cases."""
    CASE = enum.auto()
    ALL_CASES = enum.auto()
    """A Function, after all its cases: the rule is silent where it finds nothing."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be wrong with a Function, with every fact that other code needs of it."""

    code: str
    """Stable; its first three characters are the rule's `Family`."""
    name: str
    summary: str
    severity: Severity
    page: str
    """The docstring of the rule's module, which ``gradtool explain`` prints."""
    premises: tuple[str, ...] = ()
    """Codes of rules that must hold for this one to be asked: one mistake, one finding."""
    causes: tuple[str, ...] = ()
    """Codes of rules to blame where this one, or one that rests on it, does not pass; asked only
    then."""
    check: Callable[[Subject], Answer] | None = None
    """Answers the rule at one case; None if other code reports violations of it."""
    proves: str | None = None
    """The derivative that a pass shows to be right."""
    blames: tuple[str, ...] = ("backward", "vjp", "forward")
    """Methods that a finding without a line of its own points to, the likeliest first."""
    scopes: tuple[Scope, ...] = (Scope.CASE,)
    traced: bool = True
    """Lines run by the check count as executed. Not those of numeric derivatives, which take
    too long to trace, nor those of calls whose gradients are not verified."""
    only_runner_of: str | None = None
    """A method that no other rule runs."""
    reports: tuple[FailureKind, ...] = ()
    """Refusals of the engine that are this rule's to report, not GT003's or GT004's."""
    collects_doubts: bool = False
    """Reports what could not be verified on behalf of every rule."""
    excused_with: str | None = None
    """Code of a rule that excuses this one wherever it is ignored."""
    taints_worker: bool = False
    """When broken, the interrupted code may have left the process in any state."""

    @property
    def info(self) -> RuleInfo:
        """The rule as reports describe it."""
        return RuleInfo(
            code=self.code,
            name=self.name,
            severity=self.severity,
            summary=self.summary,
            page=self.page.strip(),
        )

    @property
    def wrong(self) -> str | None:
        """The source of the page's wrong example; None where source cannot show it."""
        return self._example("Wrong example")

    @property
    def right(self) -> str | None:
        """The source of the page's right example."""
        return self._example("Right example")

    def _example(self, heading: str) -> str | None:
        """The indented block below a heading of the page."""
        found = re.search(rf"^{heading}\n-+\n\n((?:    .*\n|\n)+)", self.page + "\n", re.MULTILINE)
        return cleandoc("\n" + found.group(1)) + "\n" if found else None

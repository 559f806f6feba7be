"""What a rule is: a code, a page, and a question that a `Subject` answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import TYPE_CHECKING

from gradtool.results.report import NOT_OFFERED, Evidence, Severity, Verdict

if TYPE_CHECKING:
    from gradtool.verify.protocol.differentiable import Failure
    from gradtool.verify.subject import Subject


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """One thing that breaks a rule."""

    message: str
    """One line: what is wrong and where."""
    evidence: Evidence | None = None
    hint: str | None = None
    """What to do about it."""
    detail: str | None = None
    """More lines, usually a traceback."""
    path: str | None = None
    line: int | None = None
    """The user's file and line, where it is known better than "this Function"."""
    method: str | None = None
    """The method that is wrong, where the rule may speak of several."""
    severity: Severity | None = None
    """Overrides the rule's severity."""


@dataclass(frozen=True)
class Answer:
    """What a rule says of a subject."""

    verdict: Verdict
    reason: str | None = None
    flaws: tuple[Flaw, ...] = ()


def passed(reason: str | None = None) -> Answer:
    """The rule holds."""
    return Answer(Verdict.PASS, reason)


def skipped(reason: str) -> Answer:
    """The rule has nothing to ask here."""
    return Answer(Verdict.SKIPPED, reason)


def not_offered(what: str) -> Answer:
    """The Function lacks what the rule is about."""
    return Answer(Verdict.SKIPPED, f"{NOT_OFFERED}{what}")


def unverified(reason: str, *flaws: Flaw) -> Answer:
    """It cannot be told whether the rule holds."""
    return Answer(Verdict.UNVERIFIED, reason, flaws)


def failed(*flaws: Flaw) -> Answer:
    """The rule is broken. Mere notes leave it standing."""
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


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One thing that can be wrong with a Function.

    `premises` are the codes of rules that must not have failed for this one to be asked: one
    mistake, one finding. `causes` are those that are asked only where this one does not pass, and
    are to blame for that when they have failed. `check` is None for rules that are found broken
    outside this room. `page` is the docstring of the rule's module.
    """

    code: str
    name: str
    summary: str
    severity: Severity
    page: str
    premises: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    check: Callable[[Subject], Answer] | None = None

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

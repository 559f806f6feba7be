"""Checks of contracts that the engine itself enforces: it refuses, and the rule tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradtool.verify.protocol.observation import FailureKind
from gradtool.verify.rules._failures import said
from gradtool.verify.rules._rule import Answer, failed, flaw_of, passed, skipped

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


def refused(kind: FailureKind, hint: str) -> Callable[[Subject], Answer]:
    """A check that fails when the engine refused what backward did for this reason."""

    def check(subject: Subject) -> Answer:
        if subject.nothing_to_check:
            return skipped(subject.nothing_to_check)
        failure = subject.first.failure
        if failure is None or failure.kind != kind:
            return passed()
        return failed(flaw_of(failure, said(failure), hint))

    return check

"""What gradtool says of a mutant: the cheap rules first, and no more once one is broken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.common.random_state import global_generators
from gradtool.cases.sources import ResolvedCase
from gradtool.results.report import Severity, Verdict
from gradtool.sandbox.timeout import TimedOut, time_limit
from gradtool.verify.examine import Outcome, examine
from gradtool.verify.rules import RULES

TIMED_OUT = "GT006"
PATIENCE = 10.0
"""Seconds that one case of a mutant may take; as a user's would, it then counts as found."""

_FIRST = ("GT003", "GT004", "GT101", "GT102", "GT103", "GT104", "GT105", "GT106", "GT107", "GT114")
_SECOND = ("GT108", "GT109", "GT115", "GT201", "GT202", "GT203", "GT301", "GT302", "GT603")
_ALL = tuple(code for code, rule in RULES.items() if rule.check)
_ROUNDS = tuple(tuple(code for code in codes if code in _ALL) for codes in (_FIRST, _SECOND, _ALL))


def ask(target: Any, name: str, cases: Sequence[ResolvedCase]) -> tuple[str, ...]:
    """The rules that `target` breaks at the first case where it breaks any, as under ``--strict``.

    GT603 among them says that something could not be verified.
    """
    return next(filter(None, _answers(target, name, cases)), ())


def _answers(target: Any, name: str, cases: Sequence[ResolvedCase]) -> Iterator[tuple[str, ...]]:
    for codes in _ROUNDS:
        for case in cases:
            yield _broken(target, name, case, codes)


def _broken(target: Any, name: str, case: ResolvedCase, codes: Sequence[str]) -> tuple[str, ...]:
    try:
        with time_limit(PATIENCE), global_generators(case.seed):
            function = FunctionDifferentiable(target, case.args, case.kwargs, name=name)
            outcomes, _ = examine(
                function, codes=codes, seed=case.seed, atol=case.atol, rtol=case.rtol
            )
    except TimedOut:
        return (TIMED_OUT,)
    return tuple(outcome.rule.code for outcome in outcomes if _fails(outcome))


def _fails(outcome: Outcome) -> bool:
    """Whether it fails a strict run."""
    if outcome.verdict in {Verdict.ERROR, Verdict.UNVERIFIED}:
        return True
    severities = [flaw.severity or outcome.rule.severity for flaw in outcome.flaws]
    return any(severity is not Severity.NOTE for severity in severities)

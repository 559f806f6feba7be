"""The search for a variant of a case at which a Function is wrong, within a budget of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.common.random_state import generator
from gradtool.cases.sources import ResolvedCase
from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.explore.extents import extents
from gradtool.explore.plain import plain
from gradtool.explore.point import Point, Variant
from gradtool.explore.source import blocks, needs_symmetry, solves, words
from gradtool.explore.trial import Answer, attempt, exact_gradients
from gradtool.explore.values import asymmetric, values
from gradtool.results.report import Severity, Verdict
from gradtool.verify.examine import Outcome, outcomes_for
from gradtool.verify.rules import codes
from gradtool.verify.subject import Subject

BUDGETS = {"quick": 200, "deep": 4000}
"""Calls of the user's code, for all cases of a Function."""

_CONFIRMED_BY = ("GT004", "GT101", "GT102", "GT103", "GT104", "GT106", "GT114")
"""Rules about the first derivative, which a variant can break that its case does not."""

_MOST_CONFIRMED = {"quick": 3, "deep": 20}
"""Variants that are checked in full."""


@dataclass(frozen=True, eq=False)
class Discovered:
    """A variant at which a Function is wrong, and the broken rule."""

    case: ResolvedCase
    variant: Variant
    outcome: Outcome


def explore(
    checkable: Checkable, cases: Sequence[ResolvedCase], settings: Settings
) -> list[Discovered]:
    """Find variants of `cases` at which a Function is wrong, one for each mistake."""
    left, confirmations = BUDGETS[settings.explore], _MOST_CONFIRMED[settings.explore]
    found: dict[tuple[str, str], Discovered] = {}
    streams = (_variants(checkable, case, settings) for case in cases)
    for case, variant in _interleaved(cases, streams):
        if left <= 0 or confirmations <= 0:
            break
        trial = attempt(checkable, variant, case.seed)
        left -= trial.calls
        if trial.answer is not Answer.SUSPECT:
            continue
        confirmations -= 1
        for outcome in confirmed(checkable, case, variant, settings):
            key = (outcome.rule.code, _argument(outcome))
            found.setdefault(key, Discovered(case, variant, outcome))
        if found and settings.explore == "quick":
            break
    return list(found.values())


def _argument(outcome: Outcome) -> str:
    evidence = outcome.flaws[0].evidence
    return (evidence and evidence.argument) or ""


def _interleaved(
    cases: Sequence[ResolvedCase], streams: Iterable[Iterator[Variant]]
) -> Iterator[tuple[ResolvedCase, Variant]]:
    for row in zip_longest(*streams):
        yield from ((case, each) for case, each in zip(cases, row, strict=True) if each)


def _variants(checkable: Checkable, case: ResolvedCase, settings: Settings) -> Iterator[Variant]:
    """All variants of a case, those of each family in turn."""
    point = Point.of(checkable, case, settings.device)
    families: list[Callable[[], Iterator[Variant]]] = [
        lambda: extents(
            point,
            blocks(checkable.obj),
            generator(case.seed, "extents"),
            keeps_order=solves(checkable.obj),
        ),
        lambda: plain(point, words(checkable.obj), checkable.parameters()),
        lambda: _asymmetric(checkable, case, point),
        lambda: values(point, generator(case.seed, "values")),
    ]
    for row in zip_longest(*(family() for family in families)):
        yield from (each for each in row if each is not None)


def _asymmetric(checkable: Checkable, case: ResolvedCase, point: Point) -> Iterator[Variant]:
    if not needs_symmetry(checkable.obj):
        exact = exact_gradients(checkable, point, case.seed)
        yield from asymmetric(point, exact, generator(case.seed, "asymmetric"))


def confirmed(
    checkable: Checkable, case: ResolvedCase, variant: Variant, settings: Settings
) -> list[Outcome]:
    """The rules that a full check finds broken at a variant."""
    args, kwargs = variant.point.call()
    subject = Subject(
        FunctionDifferentiable(checkable.obj, args, kwargs, name=checkable.name),
        seed=case.seed,
        atol=case.atol,
        rtol=case.rtol,
    )
    try:
        outcomes = outcomes_for(subject, codes=_asked(settings))
    except Exception:  # What the user's code raises in a later call says nothing about a gradient.
        return []
    return [each for each in outcomes if _is_broken(each)]


def _asked(settings: Settings) -> list[str]:
    running = {codes.BACKWARD_RAISED} - settings.ignored.keys()
    return sorted((set(settings.codes) | running) & set(_CONFIRMED_BY))


def _is_broken(outcome: Outcome) -> bool:
    if outcome.verdict not in (Verdict.FAIL, Verdict.ERROR) or not outcome.flaws:
        return False
    return any((flaw.severity or outcome.rule.severity) is Severity.ERROR for flaw in outcome.flaws)

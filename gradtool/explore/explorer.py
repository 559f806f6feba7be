"""The search for a variant of a case at which a Function is wrong, within a budget of calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice

import msgspec
from msgspec.structs import replace

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.cases.sources import ResolvedCase
from gradtool.collect.checkable import Checkable
from gradtool.config.settings import Settings
from gradtool.explore.combinations import combined
from gradtool.explore.coverage import Branches
from gradtool.explore.digits import is_left_to_chance, lost_beside_steps, lost_digits
from gradtool.explore.families import Test, Turns, kept_by, variants
from gradtool.explore.ignored_option import (
    is_computed_by_caller,
    is_fixed_by_call,
    with_ignored_option,
)
from gradtool.explore.observed import AtCase, gradients_at, has_options
from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.names import is_axis
from gradtool.explore.reading.source import iterations, reads_strides
from gradtool.explore.reading.wording import wording
from gradtool.explore.reading.wording.entries import speaks_of_ties_kept
from gradtool.explore.shrink import shrunk
from gradtool.explore.subgradients import is_subgradient
from gradtool.explore.trial import Answer, attempt, is_near, stale
from gradtool.results.report import Coverage, Severity, Verdict
from gradtool.verify.diagnosis.patience import without_patience
from gradtool.verify.examine import Outcome, outcomes_for
from gradtool.verify.rules import Flaw, codes
from gradtool.verify.subject import Subject

BUDGETS = {"quick": 360, "deep": 4000}
"""Calls of the user's code, for all cases of a Function."""

_CONFIRMED_BY = (
    "GT004",
    "GT101",
    "GT102",
    "GT103",
    "GT104",
    "GT105",
    "GT106",
    "GT107",
    "GT110",
    "GT111",
    "GT114",
    "GT120",
    "GT501",
    "GT503",
)
"""Rules about the first derivative, which a variant can break that its case does not."""

_FURTHER = ("GT109", "GT201", "GT202", "GT301", "GT302", "GT401", "GT403")
"""Rules about other derivatives and batches, checked at some variants where all else is right.

These are the last ones of an axis and of other options, which change all at once, the last one of
each family of less special values, the first ones that took another branch, and the first ones for
batches.
"""

_OF_LAYOUTS = ("GT112",)
"""Rules about the memory layout, which axes of extent one leave no choice of.

Checked at the largest variant in which such axes are longer.
"""

_MOST_BATCHED = 2
"""Variants for batches that are checked further."""

_MOST_BRANCHING = {"quick": 3, "deep": 20}
"""Variants that are checked further for the branch that they took."""

_MOST_CONFIRMED = {"quick": 4, "deep": 20}
"""Variants that are checked in full."""

_MOST_UNCONFIRMED = 2
"""Variants of one family that a full check finds to be right, after which it checks no others: at
zeros, for one, a recorded forward may have another derivative than a right backward.
"""

_MOST_COMBINED = {"quick": 18, "deep": 400}
"""Variants of two changes."""

_LEFT_FOR_COMBINED = {"quick": 90, "deep": 1500}
"""Calls that are kept for them."""

_GIVE_OPTIONS = ("optional tensors", "signs")
"""Families that change an option, as those do that change no tensors: a tensor that is left out, or
the signs of a constant.
"""

_OTHER_VALUES = "values"
"""The family of the same shapes and options, with which a cache may be looked up by mistake."""

_DEGENERATE = ("ties", "constant axes", "zeros", "shared zeros")
"""Families of equal entries and zeros, at some of which a Function need not have a gradient."""

_CONSTANT = "constant axes"
"""The family of tensors with equal entries along an axis."""

_LEAST_CLEAR = 4.0
"""Ratio of a difference to its tolerance from which on it is certain."""

_LARGE = 200
"""Entries of all tensors beyond which a variant is shrunk before it is checked in full: the time
that a full check takes grows with their square."""


class Discovered(msgspec.Struct, frozen=True, eq=False):
    """A variant at which a Function is wrong, and the broken rule."""

    case: ResolvedCase
    variant: Variant
    outcome: Outcome


Found = dict[tuple[str, str], Discovered]
"""What is found, by the rule and the argument."""


def explore(
    checkable: Checkable,
    cases: Sequence[ResolvedCase],
    settings: Settings,
    tell: Callable[[str], None] = lambda _: None,
    found: Found | None = None,
) -> tuple[list[Discovered], Coverage | None]:
    """Find variants of `cases` at which a Function is wrong, one for each mistake.

    Returns them with the branches that the cases, and the variants that forward accepts, took.
    `tell` hears what is tried. `found` holds what is wrong already, should the time run out.
    """
    branches = Branches(checkable)
    try:
        return _explored(checkable, cases, settings, branches, tell, {} if found is None else found)
    finally:
        branches.pause()


def _explored(
    checkable: Checkable,
    cases: Sequence[ResolvedCase],
    settings: Settings,
    branches: Branches,
    tell: Callable[[str], None],
    found: Found,
) -> tuple[list[Discovered], Coverage | None]:
    points = [Point.of(checkable, case, settings.device) for case in cases]
    search = _Search(checkable, settings, branches, found)
    search.left -= sum(branches.run(at, case.seed) for case, at in zip(cases, points, strict=True))
    turns = {id(case): Turns() for case in cases}
    tests = [kept_by(checkable, at, points) for at in points]
    streams = [
        variants(checkable, case, at, branches, turns[id(case)], points, kept)
        for case, at, kept in zip(cases, points, tests, strict=True)
    ]
    named = [_named(stream, turns[id(case)]) for case, stream in zip(cases, streams, strict=True)]
    for case, point, variant, family in _interleaved(cases, points, named):
        if search.is_over or search.is_time_to_combine:
            break
        tell(family)
        answer = search.look(case, point, variant, family)
        turns[id(case)].was_refused = answer is Answer.REFUSED
    search.combine(cases, points, tests, tell)
    branches.pause()
    if search.found:
        return list(search.found.values()), branches.result
    further = [
        discovered
        for codes_of, chosen in ((_FURTHER, search.for_further_rules), (_OF_LAYOUTS, search.longer))
        for discovered in _further(checkable, chosen, codes_of, settings)
    ]
    return further[:1], branches.result


class _Search:
    """The state of a search: its findings, its budget, and the variants to check further."""

    def __init__(
        self, checkable: Checkable, settings: Settings, branches: Branches, found: Found
    ) -> None:
        self.found = found
        self._checkable, self._settings, self._branches = checkable, settings, branches
        self._at_cases = dict[int, AtCase]()
        self.left = BUDGETS[settings.explore]
        self._confirmations = _MOST_CONFIRMED[settings.explore]
        self._unconfirmed = Counter[str]()
        self._right = dict[str, tuple[ResolvedCase, Variant]]()
        self._branching = list[tuple[ResolvedCase, Variant]]()
        self._batched = list[tuple[ResolvedCase, Variant]]()
        self._bases = defaultdict[int, list[Variant]](list)
        self.longer = list[tuple[ResolvedCase, Variant]]()
        """The largest variant with longer axes than those of extent one in its case.

        Or those with equal entries, which may be one entry expanded.
        """

    @property
    def is_over(self) -> bool:
        """True once the budget is spent or, in quick mode, a mistake is found."""
        is_enough = bool(self.found) and self._settings.explore == "quick"
        return self.left <= 0 or self._confirmations <= 0 or is_enough

    @property
    def is_time_to_combine(self) -> bool:
        """True once no more is left than `combine` needs."""
        return any(self._bases.values()) and self.left <= _LEFT_FOR_COMBINED[self._settings.explore]

    @property
    def for_further_rules(self) -> list[tuple[ResolvedCase, Variant]]:
        """The variants at which the first derivative is right that `_FURTHER` is about."""
        chosen = (*self._branching, *self._right.values(), *self._batched)
        return list({id(variant): (case, variant) for case, variant in chosen}.values())

    def look(self, case: ResolvedCase, point: Point, variant: Variant, family: str) -> Answer:
        """Try a variant of a case, and confirm what looks wrong there."""
        if family in _DEGENERATE and self._is_excluded(point, variant):
            variant = replace(variant, may_be_outside=True)
        with self._branches.watching() as keep:
            trial = attempt(self._checkable, variant, case.seed, self._gradients_at(case, point))
        self.left -= trial.calls
        if trial.answer is Answer.SUSPECT and self._unconfirmed[family] < _MOST_UNCONFIRMED:
            self._confirm(case, point, variant, trial.wrong)
            self._unconfirmed[family] += not self.found
        elif trial.answer is Answer.RIGHT:
            self._remember(case, variant, family, takes_a_branch=keep.is_new)
            if variant.is_plain or (family in _GIVE_OPTIONS and _has_others(variant, point)):
                self._add_base(case, variant)
            if variant.is_plain or family == _OTHER_VALUES:
                cached = stale(self._checkable, point, variant, case.seed)
                self._add(case, variant, filter(None, [cached]))
        if trial.answer is not Answer.REFUSED:
            keep()
        return trial.answer

    def _is_excluded(self, point: Point, variant: Variant) -> bool:
        """Return True if a docstring excludes something of an argument that a variant changes."""
        said = wording(self._checkable.obj)
        pairs = zip(variant.point.names, variant.point.values, point.values, strict=False)
        return any(said.excludes_some(name) for name, new, old in pairs if new is not old)

    def _add_base(self, case: ResolvedCase, variant: Variant) -> None:
        """Keep a variant for `combine`, unless there is one with the same options."""
        bases, point = self._bases[id(case)], variant.point
        iteration = iterations(self._checkable.obj)
        changed = {point.names[each.at] for each in variant.options}
        if iteration and changed and changed <= iteration.counts:
            return  # More rounds change nothing.
        options = [point.values[at] for at in point.plain]
        if not any(has_options(base.point, options) for base in bases):
            bases.insert(0, variant)  # The last values of an option are the most special ones.

    def combine(
        self,
        cases: Sequence[ResolvedCase],
        points: Sequence[Point],
        tests: Sequence[Test],
        tell: Callable[[str], None],
    ) -> None:
        """Look at changed options with special values, which are right by themselves."""
        streams = [
            combined(
                self._checkable,
                case,
                sorted(self._bases[id(case)], key=lambda base: -len(base.options)),
                self._branches,
                kept,
            )
            for case, kept in zip(cases, tests, strict=True)
        ]
        named = [((each, name) for name, each in stream) for stream in streams]
        together = _interleaved(cases, points, named)
        for case, point, variant, name in islice(together, _MOST_COMBINED[self._settings.explore]):
            if self.is_over:
                return
            family = f"{name} with options"
            tell(family)
            self.look(case, point, variant, family)

    def _gradients_at(self, case: ResolvedCase, point: Point) -> AtCase:
        if id(case) not in self._at_cases:
            self._at_cases[id(case)] = gradients_at(
                self._checkable, point, case.seed, self._settings.surrogate
            )
        return self._at_cases[id(case)]

    def _confirm(
        self, case: ResolvedCase, point: Point, variant: Variant, wrong: Collection[int]
    ) -> None:
        """Check a suspect in full, of which the trial found some arguments `wrong`."""
        self._confirmations -= 1
        self._branches.pause()
        if variant.point.size > _LARGE:
            variant = self._smaller(case, variant)
        with without_patience():
            outcomes = self._confirmed(case, variant)
        outcomes = [
            each for each in outcomes if not self._is_excused(each, case, point, variant.point)
        ]
        names = [variant.point.names[at] for at in wrong]
        outcomes = [each for each in outcomes if not _is_lost_in_rounding(each, names)]
        if not variant.is_plain and _contradict(outcomes, names):
            return
        if not outcomes or is_computed_by_caller(case, point, variant.point):
            return
        if is_fixed_by_call(self._checkable, case, point, variant.point, case.seed):
            return
        before = set(self.found)
        self._add(case, variant, outcomes)  # Shrinking takes time, which may run out.
        smaller, outcomes = self._shrunk(case, variant, outcomes)
        named = [
            with_ignored_option(self._checkable, each, point, smaller.point, case.seed)
            for each in outcomes
        ]
        for key in self.found.keys() - before:
            del self.found[key]
        self._add(case, smaller, named)

    def _is_excused(self, outcome: Outcome, case: ResolvedCase, point: Point, found: Point) -> bool:
        """Return True for a wrong gradient that rounding, or a kink, explains."""
        if outcome.rule.code != codes.WRONG_GRADIENT:
            return False
        if is_left_to_chance(self._checkable, point, found, outcome, case.seed):
            return True
        keeps_all = speaks_of_ties_kept(wording(self._checkable.obj).docstrings)
        return not keeps_all and is_subgradient(self._checkable, found, case.seed)

    def _smaller(self, case: ResolvedCase, variant: Variant) -> Variant:
        """The variant as small as it can be and still look wrong."""
        at_case = self._at_cases[id(case)]
        return shrunk(
            variant,
            lambda each: (
                attempt(self._checkable, each, case.seed, at_case).answer is Answer.SUSPECT
            ),
        )

    def _shrunk(
        self, case: ResolvedCase, variant: Variant, outcomes: list[Outcome]
    ) -> tuple[Variant, list[Outcome]]:
        """The variant as small as it can be, with what is wrong there: the same rules as before."""
        for each in dict.fromkeys((self._smaller(case, variant), variant)):
            found = self._confirmed(case, each)
            if [outcome.rule for outcome in found] == [outcome.rule for outcome in outcomes]:
                return each, found
        return variant, outcomes

    def _rules_for(self, variant: Variant) -> list[str]:
        """The rules about the first derivative that a variant may break and its case does not."""
        may_lose = variant.offset is not None or variant.keeps_digits or variant.keeps_most_digits
        loses = {codes.LOSES_PRECISION} if may_lose else set()
        return sorted({*_first_order(self._settings), *(loses & set(self._settings.codes))})

    def _confirmed(self, case: ResolvedCase, variant: Variant) -> list[Outcome]:
        """The findings of a full check, without digits that others lose beside a large number."""
        rules = self._rules_for(variant)
        if variant.keeps_most_digits:
            lost = lost_beside_steps(self._checkable, variant, case.seed)
            return [lost] if lost and codes.LOSES_PRECISION in rules else []
        found = confirmed(self._checkable, case, variant, rules, self._settings.surrogate)
        if variant.keeps_digits and not found and codes.LOSES_PRECISION in rules:
            lost = lost_digits(self._checkable, variant.point, case.seed)
            return [lost] if lost else []
        if variant.offset is None:
            return found
        name = variant.point.names[variant.offset]
        return [
            each
            for each in found
            if each.rule.code != codes.LOSES_PRECISION or _argument(each) == name
        ]

    def _add(self, case: ResolvedCase, variant: Variant, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.rule.code in (*_asked(self._settings), *self._rules_for(variant)):
                key = (outcome.rule.code, _argument(outcome))
                self.found.setdefault(key, Discovered(case, variant, outcome))

    def _remember(
        self, case: ResolvedCase, variant: Variant, family: str, *, takes_a_branch: bool
    ) -> None:
        """Keep a variant for the rules on other derivatives, if there is room for its kind."""
        if takes_a_branch and len(self._branching) < _MOST_BRANCHING[self._settings.explore]:
            self._branching.append((case, variant))
        if family == _CONSTANT and reads_strides(self._checkable.obj):
            self.longer.append((case, variant))
        if variant.is_for_batches and len(self._batched) < _MOST_BATCHED:
            self._batched.append((case, variant))
        if variant.growth is not None and variant.growth.before == 1:
            size = max((each.point.size for _, each in self.longer), default=0)
            if size < variant.point.size <= _LARGE:
                self.longer = [(case, variant)]
        if variant.is_plain:
            changed = [variant.point.names[each.at] for each in variant.options]
            is_of_axis = len(changed) == 1 and is_axis(changed[0])
            self._right["axis" if is_of_axis else "options"] = case, variant
        elif variant.is_less_special:
            self._right[family] = case, variant


def _has_others(variant: Variant, point: Point) -> bool:
    """Return True for a variant with a tensor that the case leaves out, or other constants."""
    changed = variant.point
    if changed.tensors != point.tensors:
        return len(changed.tensors) > len(point.tensors)
    return all(changed.values[at] is point.values[at] for at in point.tracked)


def _further(
    checkable: Checkable,
    right: Iterable[tuple[ResolvedCase, Variant]],
    rules: Sequence[str],
    settings: Settings,
) -> Iterator[Discovered]:
    """Yield what is wrong by further rules where the first derivative is right."""
    asked = [code for code in rules if code in settings.codes]
    for case, variant in right if asked else ():
        for outcome in confirmed(checkable, case, variant, asked, settings.surrogate):
            yield Discovered(case, variant, outcome)
            return


def _argument(outcome: Outcome) -> str:
    evidence = outcome.flaws[0].evidence
    return (evidence and evidence.argument) or ""


def _named(stream: Iterator[Variant], turns: Turns) -> Iterator[tuple[Variant, str]]:
    """Yield the variants of a case with the families that they belong to."""
    for variant in stream:
        yield variant, turns.family


def _interleaved(
    cases: Sequence[ResolvedCase],
    points: Sequence[Point],
    streams: Sequence[Iterator[tuple[Variant, str]]],
) -> Iterator[tuple[ResolvedCase, Point, Variant, str]]:
    """Yield the first variant of each case, then the second of each, with their families.

    Cases whose tensors have as many axes take the variants of a family in turns, for the sake of
    variety: what one of them leaves to the other comes last.
    """
    live, left = list(zip(cases, points, streams, _turns(points), strict=True)), []
    seen = {id(case): Counter[str]() for case in cases}
    while live:
        for each in list(live):
            case, point, stream, (turn, of) = each
            variant, family = next(stream, (None, ""))
            if variant is None:
                live.remove(each)
                continue
            number = seen[id(case)][family]
            seen[id(case)][family] += 1
            if variant.is_plain or number % of == turn:
                yield case, point, variant, family
            else:
                left.append((case, point, variant, family))
    yield from left


def _turns(points: Sequence[Point]) -> list[tuple[int, int]]:
    """The place of each point among those whose tensors have as many axes, and their number."""
    kinds = [tuple((at, array.ndim) for at, array in point.arrays()) for point in points]
    return [(kinds[:at].count(kind), kinds.count(kind)) for at, kind in enumerate(kinds)]


def confirmed(
    checkable: Checkable,
    case: ResolvedCase,
    variant: Variant,
    asked: Sequence[str],
    surrogates: Sequence[str] = (),
) -> list[Outcome]:
    """The rules that a full check finds broken at a variant, of those with the codes `asked`.

    The gradients of `surrogates` are declared to be others than the derivative.
    """
    args, kwargs = variant.point.call()
    subject = Subject(
        FunctionDifferentiable(checkable.obj, args, kwargs, name=checkable.name),
        seed=case.seed,
        atol=case.atol,
        rtol=case.rtol,
        declared=surrogates,
    )
    try:
        outcomes, _ = outcomes_for(subject, codes=asked)
    except Exception:  # What the user's code raises in a later call says nothing about a gradient.
        return []
    # Where numbers are so large that forward loses its digits, it moves in steps.
    is_near_zero = is_near(variant.point)
    return [
        each
        for each in outcomes
        if _is_broken(each) and not _is_faint(each)
        if is_near_zero or each.rule.code != codes.SURROGATE
    ]


def _is_faint(outcome: Outcome) -> bool:
    """Return True for differences that are not much larger than their tolerance.

    No user asked for this point, and another one shows a mistake better than it shows noise that
    was underestimated.
    """
    return all(map(_is_near_tolerance, outcome.flaws))


def _is_near_tolerance(flaw: Flaw) -> bool:
    evidence = flaw.evidence
    if evidence is None or not isinstance(evidence.difference, int | float):
        return False
    tolerance = evidence.tolerance
    return isinstance(tolerance, int | float) and evidence.difference < _LEAST_CLEAR * tolerance


def _contradict(outcomes: Sequence[Outcome], wrong: Collection[str]) -> bool:
    """Return True if evaluations refute a gradient that is the exact one of the recorded forward.

    They do where forward itself has lost its digits. `wrong` are the names of the other arguments.
    """
    found = [
        flaw.evidence.argument
        for outcome in outcomes
        if outcome.rule.code == codes.WRONG_GRADIENT
        for flaw in outcome.flaws
        if flaw.evidence is not None
    ]
    return bool(wrong) and not set(found) <= set(wrong)


def _is_lost_in_rounding(outcome: Outcome, wrong: Collection[str]) -> bool:
    """Return True for a surrogate that is the derivative of the steps of forward.

    There, evaluations show nothing of it. `wrong` are the names of the other arguments.
    """
    if outcome.rule.code != codes.SURROGATE or not wrong:
        return False
    return not any(f"`{name}`" in flaw.message for flaw in outcome.flaws for name in wrong)


def _first_order(settings: Settings) -> list[str]:
    return [code for code in _asked(settings) if code != codes.CALLS_INTERFERE]


def _asked(settings: Settings) -> list[str]:
    running = {codes.BACKWARD_RAISED} - settings.ignored.keys()
    return sorted((set(settings.codes) | running) & set(_CONFIRMED_BY))


def _is_broken(outcome: Outcome) -> bool:
    if outcome.verdict not in (Verdict.FAIL, Verdict.ERROR) or not outcome.flaws:
        return False
    severities = {flaw.severity or outcome.rule.severity for flaw in outcome.flaws}
    # A surrogate is a warning at a case; one that no case reaches is as likely a mistake.
    if Severity.ERROR in severities or outcome.rule.code == codes.SURROGATE:
        return True
    # A buffer may change.
    return outcome.rule.code == codes.INPUT_MUTATED and Severity.WARNING in severities

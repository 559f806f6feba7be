"""Search for arguments that a Function accepts, from its signature and by trying.

The search is deterministic: the same source gives the same cases. It finds cases as a
configuration writes them, so they are shown, drawn and replayed like any other.
"""

from __future__ import annotations

import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from gradtool.cases.inference.candidates import (
    Candidate,
    Domain,
    Parameters,
    candidates,
    is_degenerate,
    with_defaults,
    with_optional,
)
from gradtool.cases.inference.clues import Clues
from gradtool.cases.inference.roles import Shape, may_be_tensor
from gradtool.cases.inference.trials import Trial
from gradtool.config.schema import CaseConfig
from gradtool.verify.protocol.observation import FailureKind

Try = Callable[[CaseConfig], Trial]

BUDGET = 200
"""Calls of forward in the search for the arguments of one Function."""

_FIRST_PHASE = 110
"""Calls after which the search for informative shapes with values of any sign ends."""

_SECOND_PHASE = 150
"""Calls after which the search for the same shapes with positive values ends."""

_OPTIONAL_BUDGET = 40
"""Further calls in the search for optional tensors."""

_BACKWARD_BUDGET = 80
"""Further calls in the search for what backward accepts too, once forward accepted."""

_REDUCED = 3
"""Arguments of one candidate that get the shape of their gradient."""

_DOMAINS: tuple[Domain, ...] = (
    {},
    {"low": 0.5, "high": 1.5},
    {"low": 0.1, "high": 0.9},
    {"low": 1.5, "high": 2.5},
)
"""Domains of values: standard normal, then those of log, of logit and of acosh."""

_COMPLEX: Domain = {"dtype": "complex128"}
_DTYPES: tuple[Domain, ...] = (_COMPLEX, {"dtype": "float32"})
"""Dtypes of tensors to try for a Function that refuses float64."""

OTHER_DTYPES_BUDGET = 20
"""Calls in the search with each of these."""


class Wanted(msgspec.Struct, frozen=True):
    """An object that only code can make."""

    kind: str
    """What it is, in words."""
    attributes: tuple[str, ...] = ()
    methods: frozenset[str] = frozenset()
    """Those attributes that are called."""
    keys: tuple[Any, ...] = ()
    """The keys of a dict."""
    returns: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """The attributes of what its methods return, or of what it returns when it is called."""


class SearchResult(msgspec.Struct):
    """Result of a search."""

    cases: list[CaseConfig] = msgspec.field(default_factory=list)
    calls: int = 0
    refusals: Counter[str] = msgspec.field(default_factory=Counter)
    """Reasons for which forward refused, with their counts."""
    likeliest: CaseConfig | None = None
    """The first candidate: a start for a user who knows better."""
    objection: str = ""
    """Why forward refused it."""
    doubt: str | None = None
    """The reason not to use it, if forward accepted it."""
    reached: tuple[int, ...] = ()
    """The lines of the user's file at which it was refused."""
    below: tuple[int, ...] = ()
    """The lines of other files that these called."""
    evidence: str | None = None
    """The part of the source that the cases follow from; None for the signature."""
    objects: Mapping[str, Wanted] = msgspec.field(default_factory=dict)
    """Kinds of the parameters that only code can make: objects with attributes, functions."""
    callers: Sequence[str] = ()
    """Why what calls the Function gave no case, one line for each."""
    is_guess: bool = False
    """Some argument is one that forward happened to accept."""
    is_doubtful: bool = False
    """Many Functions accept these shapes, also such as need others."""
    broken: FailureKind | None = None
    """The contract that backward breaks at the cases, or ``raised``."""
    miscounted: CaseConfig | None = None
    """Arguments of which backward gets through with another number of gradients."""


class _Found(msgspec.Struct, frozen=True):
    candidate: Candidate
    domain: Domain
    case: CaseConfig
    output: Shape
    backward: bool
    broken: FailureKind | None
    reduced: tuple[int, Shape] | None


def infer(parameters: Parameters, clues: Clues, attempt: Try) -> SearchResult:
    """Search for cases of a Function with `parameters`; `attempt` tries one.

    The first case leaves optional parameters alone. A second one gives tensors for those
    that are None by default.
    """
    search = _Search(attempt)
    found = search.find(candidates(parameters, clues))
    if found is not None:
        found = found if found.backward else search.spell_out(found, parameters)
        search.result.cases.append(found.case)
        search.result.broken = found.broken
        search.result.is_doubtful = _is_doubtful(found) or search.may_be_complex(found)
        optional = [p for p in parameters if p.default is None and may_be_tensor(p, clues)]
        search.find_optional(found, optional, clues)
    return search.result


def _is_doubtful(found: _Found) -> bool:
    """Return True for three or more squares, or tensors of one shape that backward refuses."""
    shapes = found.candidate.shapes
    if len(shapes) < 3:
        return False
    is_refused = len(set(shapes)) == 1 and found.broken is not None
    return is_refused or all(map(_is_square, shapes))


def _is_square(shape: Shape) -> bool:
    return len(shape) > 1 and len(set(shape)) == 1


class _Search:
    """Tries candidates and counts the calls."""

    def __init__(self, attempt: Try) -> None:
        self.result = SearchResult()
        self._attempt = attempt

    def find(self, stream: Iterable[Candidate]) -> _Found | None:
        """Find the best candidate of `stream`.

        Squares and scalars come last, even after positive values: nearly any Function accepts
        them, and they show little.
        """
        listed = list(itertools.islice(stream, BUDGET))
        informative = [each for each in listed if not each.shows_little]
        degenerate = [each for each in listed if each.shows_little]
        found = (
            self._best(informative, "inferred", _DOMAINS, _FIRST_PHASE)
            or self._best(informative, "inferred", _DOMAINS[1:3], _SECOND_PHASE)
            or self._best(degenerate, "inferred", _DOMAINS, BUDGET)
        )
        if found is not None and found.broken != "raised":
            return found
        other = self._of_another_dtype(informative)
        return other if other and (other.backward or not found) else found

    def _of_another_dtype(self, informative: Sequence[Candidate]) -> _Found | None:
        """Find the best candidate among tensors of a dtype that few Functions require."""
        best = None
        for domain in _DTYPES:
            limit = self.result.calls + OTHER_DTYPES_BUDGET
            found = self._best(informative, "inferred", (domain,), limit)
            if found and found.backward:
                return found
            best = best or found
        return best

    def may_be_complex(self, found: _Found) -> bool:
        """Return True for gradients of another type that are right if the tensors are complex."""
        if found.broken != "gradient-type":
            return False
        other = self._try(found.candidate, "inferred", [{**found.domain, **_COMPLEX}])
        return other is not None and other.backward

    def spell_out(self, found: _Found, parameters: Parameters) -> _Found:
        """Spell out the defaults, if backward then accepts the arguments.

        A backward may look up ``ctx.needs_input_grad`` of an argument that was left out.
        """
        candidate = with_defaults(found.candidate, parameters)
        complete = self._try(candidate, "inferred", [found.domain])
        return complete if complete and complete.backward else found

    def find_optional(
        self, found: _Found, optional: Sequence[inspect.Parameter], clues: Clues
    ) -> None:
        """Add a case with all of `optional`, or else one for each that is accepted."""
        together = [optional] if optional else []
        singly = [[parameter] for parameter in optional] if len(optional) > 1 else []
        if not any(self._add_optional(found, some, clues) for some in together):
            for some in singly:
                self._add_optional(found, some, clues)

    def _add_optional(
        self, found: _Found, optional: Sequence[inspect.Parameter], clues: Clues
    ) -> bool:
        stream = with_optional(found.candidate, found.output, optional, clues)
        name = "-".join(["inferred-with", *(parameter.name for parameter in optional)])
        limit = self.result.calls + _OPTIONAL_BUDGET
        best = self._best(stream, name, (found.domain,), limit)
        if best is not None:
            self.result.cases.append(best.case)
        return best is not None

    def _best(
        self, stream: Iterable[Candidate], name: str, domains: Sequence[Domain], limit: int
    ) -> _Found | None:
        """The first candidate that forward and backward accept, else the first for forward."""
        best = None
        for candidate in stream:
            if self.result.calls >= limit:
                break
            found = self._as_returned(self._try(candidate, name, domains), name)
            if found and found.backward:
                return found
            if found and not best:
                best, limit = found, min(limit, self.result.calls + _BACKWARD_BUDGET)
        return best

    def _as_returned(self, found: _Found | None, name: str) -> _Found | None:
        """Give an argument the shape of its gradient, if that has fewer entries and works.

        No library accepts such a gradient, so the argument was meant to have that shape.
        """
        tried = found
        for _ in range(_REDUCED):
            if tried is None or tried.backward or not tried.reduced or not tried.reduced[0]:
                break  # The first argument is what the others scale: its shape stays.
            candidate = tried.candidate.reshaped(*tried.reduced)
            if candidate is None or is_degenerate(candidate.shapes):
                break
            tried = self._try(candidate, name, (tried.domain,))
        return tried if tried and tried.backward else found

    def _try(self, candidate: Candidate, name: str, domains: Sequence[Domain]) -> _Found | None:
        """Try `candidate` in each domain until its result is finite."""
        for domain in domains:
            case = candidate.case(name, domain)
            trial = self._attempt(case)
            self.result.calls += 1
            if self.result.likeliest is None:
                self.result.likeliest, self.result.objection = case, trial.objection
                self.result.reached, self.result.below = trial.reached, trial.below
            if trial.refusal is None:
                of_backward = trial.backward, trial.broken, trial.reduced
                return _Found(candidate, domain, case, trial.output, *of_backward)
            self.result.refusals[trial.refusal] += 1
            if trial.finite:
                break
        return None

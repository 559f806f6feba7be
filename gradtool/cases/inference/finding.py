"""Cases of a Function: from its signature, and where none is found, from what its source says."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from gradtool.cases.inference.annotations import class_named
from gradtool.cases.inference.calls.call_sites import module_source
from gradtool.cases.inference.calls.calling import call_callers
from gradtool.cases.inference.calls.passed import passed_values
from gradtool.cases.inference.calls.results import ITSELF, attributes_of_results
from gradtool.cases.inference.candidates import Parameters, variants
from gradtool.cases.inference.certainty import (
    holds_tensors,
    is_only_kept,
    is_stated,
    is_unlike_documented,
    is_unpacked,
    returns_eigenvectors,
    takes_padded,
)
from gradtool.cases.inference.climbing import Climb, Step, speaks_of
from gradtool.cases.inference.clues import Clues
from gradtool.cases.inference.documentation import source
from gradtool.cases.inference.drafts import (
    Draft,
    adjoint_pairs,
    asks,
    case_of,
    entries,
    inverse_pairs,
    is_floating,
    is_same,
    others,
    shape_of,
)
from gradtool.cases.inference.guards.repairs import read_repairs
from gradtool.cases.inference.mistakes import Furthest
from gradtool.cases.inference.operators import is_of_tensor
from gradtool.cases.inference.reading import Reading, read
from gradtool.cases.inference.roles import is_callable
from gradtool.cases.inference.search import SearchResult, Wanted, infer
from gradtool.cases.inference.stand_ins import is_stand_in, matrices
from gradtool.cases.inference.trials import Trial
from gradtool.cases.inference.uses import SAYS_SQUARE
from gradtool.collect.checkable import Checkable
from gradtool.config.schema import CaseConfig
from gradtool.verify.wording import listed

_BUDGET = 400
"""Tries from what the source says."""

_BUDGET_AGAIN = 150
"""Tries with another number of arguments in place of ``*args``."""

_SECONDS = 5.0
"""Processor time after which no further one is made, the same on a busy machine."""

_SEARCH = re.compile(r"\b(searchsorted|bucketize)\(")
"""Matches a search in ascending numbers."""

_OF_MATRIX = re.compile(r"positive definite|\bSPD\b|(?<![a-z])(eigh|symeig|eye)\(", re.IGNORECASE)
"""Matches a text that may be about a positive definite or a square matrix."""

_OTHERS = 8
"""Tries of other extents."""

_MANY = 120
"""Entries beyond which smaller tensors are used if they are accepted too."""

_MANY_NUMBERS, _MANY_INTEGERS = 3, 2
"""Numbers that nothing but their names shows, for which callers are asked first.

Integers are extents, of which fewer have to fit.
"""

FIRST, SECOND = "inferred", "inferred-2"
"""Names of the cases that are found by reading."""


class Tries(msgspec.Struct, frozen=True):
    """Ways to try a case."""

    attempt: Callable[[CaseConfig], Trial]
    make: Callable[[CaseConfig], list[Any]]
    """Makes the values of a case of another callable."""
    without_influence: Callable[[CaseConfig], list[int]]
    """The positions of arguments that ask for a gradient, but that no output depends on."""
    that_may_not_change: Callable[[CaseConfig], list[int]]
    """The positions of arguments that ask for a gradient, but of which forward refuses others."""
    read_by_triangle: Callable[[CaseConfig], list[int]]
    """The positions of square matrices of which no output depends on one of the triangles."""


def find_cases(
    checkable: Checkable, parameters: Parameters, clues: Clues, tries: Tries, gaps: tuple[str, ...]
) -> SearchResult:
    """Find cases that forward accepts; those of a caller if nothing else shows any.

    Where every call breaks the same contract, one that does is the case: its rule says what is
    wrong.

    Args:
        checkable: The Function or callable.
        parameters: Its parameters, without ctx.
        clues: What its source says of their names.
        tries: Tries a case.
        gaps: Errors that begin an objection which no arguments can meet.
    """
    if checkable.is_function:
        names = tuple(parameter.name for parameter in parameters)
        passed = passed_values(checkable.obj, names, clues)
        clues = replace(clues, passed={**clues.passed, **passed})
    furthest = Furthest(tries.attempt)
    search = _cases(checkable, parameters, clues, replace(tries, attempt=furthest.attempt), gaps)
    mistaken = None if search.cases else furthest.mistaken(parameters)
    if mistaken is not None:
        search.cases = [mistaken]
    if search.cases and (returns_eigenvectors(checkable.obj) or _is_for_padded(checkable)):
        search.evidence, search.is_guess = search.evidence or "the signature", True
    search.cases = [_with_symmetric(case, tries) for case in search.cases]
    return search


def _is_for_padded(checkable: Checkable) -> bool:
    return checkable.is_function and takes_padded(checkable.obj)


def _with_symmetric(case: CaseConfig, tries: Tries) -> CaseConfig:
    """The case with symmetric matrices where forward reads one triangle, if it accepts them."""
    if not any(is_floating(value) and _is_square(shape_of(value)) for value in case.args):
        return case
    read = tries.read_by_triangle(case)
    args = [_symmetric(value) if at in read else value for at, value in enumerate(case.args)]
    changed = replace(case, args=tuple(args))
    return changed if read and tries.attempt(changed).refusal is None else case


def _symmetric(value: dict[str, Any]) -> dict[str, Any]:
    rest = {name: each for name, each in value.items() if name not in _OF_VALUES}
    return {**rest, "values": matrices("positive definite", tuple(shape_of(value)))}


_OF_VALUES = ("shape", "low", "high", "values")
"""Entries of a tensor that say which values it has."""


def _is_square(shape: Sequence[int]) -> bool:
    return len(shape) > 1 and shape[-1] == shape[-2] > 1


def _cases(
    checkable: Checkable, parameters: Parameters, clues: Clues, tries: Tries, gaps: tuple[str, ...]
) -> SearchResult:
    search = _own_cases(checkable, parameters, clues, tries, gaps)
    is_made_up = search.is_guess and any(map(_has_stand_in, search.cases))
    is_made_up |= search.evidence is None and any(map(_has_many_numbers, search.cases))
    if not checkable.is_function or (search.cases and not is_made_up):
        return search
    if not search.cases and search.objection.startswith(gaps):
        return search
    called = call_callers(checkable, tries.make, tries.attempt)
    search.calls += called.calls
    search.callers = called.refusals
    if called.cases and not (search.cases and any(map(_has_stand_in, called.cases))):
        search.cases, search.is_guess = called.cases, called.is_guess
        search.evidence = f"a call to {called.caller}"
    return search


def _has_many_numbers(case: CaseConfig) -> bool:
    """Return True for numbers of which some have to fit the others, as those of a model do."""
    numbers = [type(value) for value in case.args if type(value) in (int, float)]
    return len(numbers) >= _MANY_NUMBERS or numbers.count(int) >= _MANY_INTEGERS


def _has_stand_in(case: CaseConfig) -> bool:
    """Return True for an argument that stands for a function or an object of the user's.

    So does an empty dict, for options that a layer gives.
    """
    held = (value.get("literal") for value in case.args if isinstance(value, dict))
    return any(is_stand_in(each) or (isinstance(each, dict) and not each) for each in held)


def _own_cases(
    checkable: Checkable, parameters: Parameters, clues: Clues, tries: Tries, gaps: tuple[str, ...]
) -> SearchResult:
    """Find cases from the signature, and where none is found, from the source.

    Those of the signature are used if forward and backward accept them. Arguments that were read
    from the source are used if both do, and an output depends on each that asks for a gradient:
    there are two cases of them, with different extents if possible. Where there are none either,
    those of the signature that forward alone accepts are a guess.
    """
    is_called = any(p.name in clues.uses.called or is_callable(p) for p in parameters)
    takes_object = _takes_object(parameters, clues)
    read_first = (
        is_called
        or takes_object
        or bool(adjoint_pairs(parameters, clues))
        or bool(inverse_pairs(parameters, clues))
        or _reads_order(checkable.obj, [p.name for p in parameters])
        or (checkable.is_function and _says_matrix(checkable.obj, parameters, clues))
    )
    search = SearchResult() if read_first else infer(parameters, clues, tries.attempt)
    counts_all = search.broken == "gradient-count" and any(map(_has_default, parameters))
    is_doubtful = search.broken == "raised" or search.is_doubtful
    # The number of gradients may follow from the arguments in place of `*args`.
    is_doubtful |= search.broken == "gradient-count" and any(map(_is_starred, parameters))
    is_settled = bool(search.cases) and not is_doubtful and not counts_all
    if not checkable.is_function or is_settled or search.objection.startswith(gaps):
        if any(
            is_unlike_documented(checkable.obj, case)
            or is_unpacked(parameters, clues, case)
            or is_only_kept(checkable.obj, parameters, clues, case)
            or holds_tensors(case)
            for case in search.cases
        ):
            search.evidence, search.is_guess = "the signature", True
        return search
    # Complex tensors may be meant, and so may the real ones.
    is_of_either_type = search.broken == "gradient-type"
    # A backward may return a gradient for each argument, those with a default included.
    every = [tuple(filter(_is_single, parameters))] if counts_all else variants(parameters, clues)
    is_read = _read_cases(checkable, every, clues, tries, search)
    search.is_guess |= is_of_either_type
    if not search.cases and _refuses_default(parameters, search.objection):
        _read_cases(checkable, [tuple(filter(_is_single, parameters))], clues, tries, search)
    if not search.cases and search.miscounted and not any(map(_has_default, parameters)):
        # No other arguments change the number: there is nothing that might have been left out.
        search.cases, search.evidence = [search.miscounted], "the source of forward"
        search.is_guess = True
    if not is_read:
        return infer(parameters, clues, tries.attempt) if read_first else search
    if read_first and not is_called and not takes_object and not search.cases:
        search = infer(parameters, clues, tries.attempt)
        is_doubtful = True
    if search.cases and not search.evidence and is_doubtful:
        search.evidence, search.is_guess = "the signature", True
    return search


def _read_cases(
    checkable: Checkable,
    every: Iterable[Parameters],
    clues: Clues,
    tries: Tries,
    search: SearchResult,
) -> bool:
    """Add to a search what reading finds for some parameters; return False without source."""
    deadline = time.thread_time() + _SECONDS
    is_read = False
    for required in every:
        reading = read(checkable.obj, required, clues) if required else None
        if reading is None or search.evidence:
            break
        search.objects = search.objects or dict(_objects(reading, checkable.obj))
        _climb(reading, tries, search, _BUDGET if not is_read else _BUDGET_AGAIN, deadline)
        is_read = True
    return is_read


def _takes_object(parameters: Parameters, clues: Clues) -> bool:
    """Return True if backward takes an attribute of an argument that no tensor has."""
    taken = (clues.uses.attributes.get(parameter.name, ()) for parameter in parameters)
    return any(not is_of_tensor(attribute) for each in taken for attribute in each)


def _reads_order(function: Any, names: Sequence[str]) -> bool:
    """Return True if a Function searches a tensor, which has to ascend and may not change.

    Or if it writes to places that an argument gives, which have to differ.
    """
    text = source(function)
    places = rf"\[({'|'.join(map(re.escape, names))})\]\s*=[^=]"
    return bool(_SEARCH.search(text) or re.search(places, text))


def _says_matrix(function: Any, parameters: Parameters, clues: Clues) -> bool:
    """Return True if a text says that an argument is positive definite, or an only one square.

    Or if the root of its eigenvalues is taken, or an identity of its size is added.
    """
    text = module_source(function)[1]  # A helper may compute it.
    if not (_OF_MATRIX.search(text) or SAYS_SQUARE.search(text)):
        return False
    required = tuple(each for each in parameters if not _has_default(each))
    reading = read(function, required, clues)
    return reading is not None and any(
        use.is_said_matrix and use.matrix in {"positive definite", "square"}
        for use in reading.uses.values()
    )


def _refuses_default(parameters: Parameters, objection: str) -> bool:
    """Return True for an objection to None, or one that names a parameter with a default.

    Also where nothing changes the outputs: a default may be too small, such as a step of time.
    """
    named = [p.name for p in parameters if _has_default(p) and len(p.name) > 1]
    if "'NoneType'" in objection or ("no output depends" in objection and any(named)):
        return True
    return any(speaks_of(name, objection) for name in named)


def _has_default(parameter: inspect.Parameter) -> bool:
    return parameter.default is not parameter.empty


def _is_starred(parameter: inspect.Parameter) -> bool:
    return parameter.kind is parameter.VAR_POSITIONAL


def _is_single(parameter: inspect.Parameter) -> bool:
    return parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)


def _objects(reading: Reading, function: Any) -> Iterator[tuple[str, Wanted]]:
    """Yield the parameters that only code can make, with what the source says of them."""
    results = attributes_of_results(function, [each.name for each in reading.parameters])
    for parameter in reading.parameters:
        use = reading.uses[parameter.name]
        own = tuple(sorted(name for name in use.attributes if not is_of_tensor(name)))
        of_class = class_named(parameter, reading.namespace)
        of = f" of {of_class}" if of_class else ""
        if use.keys:
            kind = f"a dict with {listed(list(map(repr, use.keys)))}"
            yield parameter.name, Wanted(kind, keys=tuple(use.keys))
        elif own:
            noun = "attribute" if len(own) == 1 else "attributes"
            kind = f"an object{of} with the {noun} {listed(list(own))}"
            returns = results.get(parameter.name, {})
            yield parameter.name, Wanted(kind, own, frozenset(use.methods), returns=returns)
        elif of_class:
            yield parameter.name, Wanted(f"an object{of}")
        elif use.is_called:
            yield parameter.name, _function(results.get(parameter.name, {}))
        elif use.loops and parameter.name in reading.clues.undifferentiated:
            yield parameter.name, Wanted("a list")


def _function(returns: Mapping[str, tuple[str, ...]]) -> Wanted:
    """A function, and the attributes that its result has."""
    own = returns.get(ITSELF, ())
    noun = "attribute" if len(own) == 1 else "attributes"
    kind = f"a function that returns an object with the {noun} {listed(list(own))}"
    return Wanted(kind, returns=returns) if own else Wanted("a function")


def _climb(
    reading: Reading, tries: Tries, search: SearchResult, budget: int, deadline: float
) -> None:
    """Add to a search what climbing finds."""

    def attempt(draft: Draft, name: str = FIRST) -> Trial:
        case = case_of(reading.parameters, draft, name)
        trial = tries.attempt(case)
        return _doubted(reading, trial, case, tries) if trial.backward else trial

    climb = Climb(reading, attempt, budget, deadline)
    best = climb.run()
    search.calls += climb.calls
    if best is None:
        return
    is_sure = best.is_done
    if not is_sure and best.trial.refusal is None:
        best = _without_idle(reading, best, tries, attempt)
    if best.is_done or (best.trial.is_through and search.broken == "raised"):
        drafts = _accepted(reading, best.draft, attempt)
        named = zip(drafts, (FIRST, SECOND), strict=False)
        search.cases = [case_of(reading.parameters, *each) for each in named]
        search.evidence = _evidence(best)
        search.is_guess = not (is_sure and is_stated(reading, best))
    elif best.is_corrected or best.height > (*search.reached, *search.below):
        search.likeliest = case_of(reading.parameters, best.draft, FIRST)
        said = best.trial.objection
        search.objection = said if best.trial.refusal else f"no error, but {said}"
        search.doubt = None if best.trial.refusal else said
        search.reached = best.trial.reached
    if best.trial.broken == "gradient-count":
        search.miscounted = case_of(reading.parameters, best.draft, FIRST)


def _without_idle(
    reading: Reading, step: Step, tries: Tries, attempt: Callable[[Draft], Trial]
) -> Step:
    """The step whose tensors ask for no gradient if it cannot be compared.

    No output depends on them, such as buffers, or forward refuses any change of their entries.
    """
    case = case_of(reading.parameters, step.draft, FIRST)
    idle, fixed = tries.without_influence(case), tries.that_may_not_change(case)
    draft = tuple(
        {**value, "requires_grad": False} if at in (*idle, *fixed) and is_floating(value) else value
        for at, value in enumerate(step.draft)
    )
    first = next((at for at, value in enumerate(draft) if is_floating(value)), None)
    if is_same(draft, step.draft) or first in idle or not any(map(asks, draft)):
        return step
    return Step(draft, attempt(draft), step.site)


def _doubted(reading: Reading, trial: Trial, case: CaseConfig, tries: Tries) -> Trial:
    """The trial of a case that backward accepts, with what speaks against using it."""
    if any(map(_shows_little, case.args)):
        return trial.doubted("every extent of a tensor is 1")
    if not any(map(asks, case.args)):
        return trial.doubted("no argument requires a gradient")
    if not trial.received:
        return trial.doubted("backward returns no gradient")
    ignored = [reading.parameters[at].name for at in tries.without_influence(case)]
    if ignored:
        return trial.doubted(f"no output depends on {', '.join(ignored)}")
    fixed = [reading.parameters[at].name for at in tries.that_may_not_change(case)]
    if fixed:
        return trial.doubted(f"it refuses small changes to {' and '.join(fixed)}")
    return trial


def _shows_little(value: Any) -> bool:
    """Return True for a floating tensor of several dimensions with one entry."""
    return is_floating(value) and len(shape_of(value)) > 1 and set(shape_of(value)) == {1}


def _accepted(
    reading: Reading, draft: Draft, attempt: Callable[[Draft, str], Trial]
) -> list[Draft]:
    """List two drafts with different extents; where only `draft` is accepted, that twice.

    Each is tried by the name of its case, from which its values follow.
    """

    def tried(other: Draft, name: str, *, may_repair: bool) -> list[Draft]:
        trial = attempt(other, name)
        if trial.backward:
            return [other]
        changed = _repaired(reading, other, trial) if may_repair else other
        return [changed] if changed is not other and attempt(changed, name).backward else []

    found = [] if entries(draft) > _MANY else [draft]
    listed = others(draft)[:_OTHERS]
    again = [(each, True) for each in (*listed, draft, draft)]
    for other, may_repair in [*((each, False) for each in listed), *again]:
        is_new = other is draft or not any(is_same(other, each) for each in found)
        if len(found) < 2 and is_new and entries(other) <= max(_MANY, entries(draft)):
            found += tried(other, (FIRST, SECOND)[len(found)], may_repair=may_repair)
    return found


def _repaired(reading: Reading, draft: Draft, trial: Trial) -> Draft:
    """The draft as the guard states that refused it.

    What met a condition by chance, such as numbers that were all positive, may not meet it again.
    """
    repairs = read_repairs(reading, draft, trial.at)
    return draft if repairs is None else repairs.together()


def _evidence(step: Step) -> str:
    if step.site is None:
        return "the source of forward"
    return f"the call at {step.site.where}"

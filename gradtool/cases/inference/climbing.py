"""Search from the arguments that come furthest: by the line of forward at which they are refused.

A refusal at a later line is progress. From the draft that came furthest one argument at a time is
replaced, first those that the refused line or its message speak of.
"""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from gradtool.cases.inference.alternatives import alternatives
from gradtool.cases.inference.calls.call_sites import Site
from gradtool.cases.inference.calls.reordered import is_reordered
from gradtool.cases.inference.drafts import (
    Draft,
    as_written,
    asks,
    is_floating,
    is_same,
    settled,
    shape_of,
    smaller,
)
from gradtool.cases.inference.guards.options import options_of
from gradtool.cases.inference.guards.repairs import read_repairs
from gradtool.cases.inference.messages import Said, corrections
from gradtool.cases.inference.operators import Operator, is_of_tensor
from gradtool.cases.inference.reading import Reading
from gradtool.cases.inference.suggestions import linear_maps, suggested, switched_off
from gradtool.cases.inference.trials import IN_BACKWARD, Trial
from gradtool.config.tensor_spec import is_tensor
from gradtool.verify.demanded_dtype import asks_for_single

Domain = dict[str, float | str]

_DOMAINS: tuple[Domain, ...] = (
    {"low": 0.5, "high": 1.5},
    {"low": 0.1, "high": 0.9},
    {"low": 1.5, "high": 2.5},
)

_MOST_SITES = 3
"""Calls of the Function that are tried."""

_IN_TURN = 6
"""Values of one parameter that are tried before those of the next."""

_MOST_WORDS = 12
"""Words of a message that are tried as a value."""

_MOST_REPAIRS = 4
"""Times that arguments are changed as a guard states before it accepts them."""

_SIDEWAYS = 3
"""Drafts refused at the same place for another reason that are changed further."""

_OBJECT = re.compile(
    r"object is not callable|object has no attribute '(\w+)'|\bTensor\.(\w+) was deprecated"
)
"""Matches the refusal of a value in place of an object that computes."""

_OF_NUMBER = re.compile(r"'(?:int|float|bool)' object has no attribute '(\w+)'")
"""Matches the refusal of a number in place of a tensor."""

_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.]*\.)|(?<=\dx)\d+|\d+(?=x\d)")
"""Matches an integer in a message, also one of the extents in ``3x4``."""

_LARGEST_SIZE = 64
"""Number beyond which one in a message is not tried as an extent."""

_INTEGERS = re.compile(r"torch\.(u?int(?:8|16|32|64))\b")
"""Matches the dtype that a message asks for."""

_SCALAR = re.compile(r"converted to Scalar|only one element")
"""Matches the refusal of a tensor with more than one entry."""

_VECTOR = re.compile("Index is supposed to be a vector")
"""Matches the refusal of an index of several dimensions."""

_OF_INDEX = re.compile(r"used as indices must be|for index but got")
"""Matches the refusal of an index that holds no integers."""

_CONDITION = re.compile("Boolean value of Tensor with more than one value is ambiguous")
"""Matches the refusal of a tensor with more than one entry as a condition."""

_OF_ROW = re.compile("truth value of an array with more than one element is ambiguous")
"""Matches the refusal of a row of an array where a loop over its entries takes one number."""

_SUBSCRIPTS = re.compile(r"subscripts in the equation \((\d)\) does not match the number")
"""Matches the refusal of an operand of ``einsum`` by the number of axes that it has to have."""

_OUT_OF_BOUNDS = re.compile(r"index (\d+) is out of bounds for \w+ \d+ with size (\d+)")
"""Matches the refusal of an extent by the index that it has to have: a table has a fixed one."""

_TAKES_BOOLEANS = re.compile(r"\bbool(?:ean)? (?:tensor|mask)s?\b")
"""Matches the refusal of numbers as a condition or a mask."""

_RANK = re.compile(r"\b([1-5])[- ]?[dD](?:im\w*)?\b")
"""Matches the number of dimensions that a message asks for: ``4D``, ``3-dimensional``."""

_DIMENSION = re.compile(r"Dimension out of range \(.*but got ([1-4])\)")
"""Matches the refusal of a dimension that the tensor does not have."""

_COMPLEX = re.compile(r"invalid gradient at index (\d) - expected type .* but got torch\.complex")
"""Matches the refusal of a complex gradient of a real tensor: its position."""

_UNPACKS = re.compile(r"values to unpack \(expected")
"""Matches the refusal of one result in place of several."""

_LEFT_OUT = re.compile(r"no output depends on")
"""Matches the doubt about a tensor without influence, which may be the one to compute from."""

_DIVISIBLE = re.compile(r"\b(?:divisible by|multiple of) (\d{1,2})\b")
"""Matches the refusal of an extent by the number that it has to be a multiple of."""

_STATED_SHAPE = re.compile(r"\b(?:shape|size)d?\W*(?:of |be )?[(\[]([\w., ]+)[)\]]")
"""Matches the shape that a message asks for: ``must have shape [..., n, b, b]``."""

_EXTENTS = (2, 3, 4, 5, 2)
"""Extents of a tensor with such a number of dimensions."""

TryDraft = Callable[[Draft], Trial]


class Step(msgspec.Struct, frozen=True):
    """A draft that was tried."""

    draft: Draft
    trial: Trial
    site: Site | None = None
    """The call that it began with."""
    is_corrected: bool = False
    """It has what an earlier refusal asked for, wherever it is refused now."""

    @property
    def height(self) -> tuple[int, ...]:
        """The lines of forward, then of backward, that it reached, and those below."""
        return (*self.trial.reached, *self.trial.below)

    @property
    def is_done(self) -> bool:
        """True if forward and backward accept it."""
        return self.trial.refusal is None and self.trial.backward


class Climb:
    """A search for arguments that forward and backward accept.

    Args:
        reading: What the source says of the parameters.
        attempt: Tries a draft.
        budget: The number of tries.
        deadline: The processor time of this thread after which no further one is made.
    """

    def __init__(self, reading: Reading, attempt: TryDraft, budget: int, deadline: float) -> None:
        self._reading = reading
        self._attempt = attempt
        self._budget = budget
        self._deadline = deadline
        self._tried: set[str] = set()
        self._overcome: list[Step] = []
        """Refused steps of which a correction led on."""

    @property
    def calls(self) -> int:
        """The number of tries so far."""
        return len(self._tried)

    def run(self) -> Step | None:
        """The step that came furthest; it is done if the search succeeded."""
        best = furthest = None
        for site, draft in self._starts():
            step = self._step(draft, site)
            if step and (best is None or step.height > best.height):
                best = step
        while best is not None and not best.is_done and self._is_open:
            higher = self._beyond(best)
            if higher is None:
                break
            if furthest is None or best.height > furthest.height:
                furthest = best
            best = replace(higher, is_corrected=higher.is_corrected or best.is_corrected)
        if best is None or best.is_done or furthest is None:
            return best
        return max(best, furthest, key=lambda step: step.height)

    def _beyond(self, best: Step) -> Step | None:
        """The step that leads on from the best one, or else from one that a correction overcame."""
        if best.trial.lacks:
            return self._otherwise() or self._higher(best)
        onward = self._in_single(best) or self._repaired(best) or self._corrected(best)
        onward = onward or self._higher(best)
        return onward or self._otherwise()

    def _otherwise(self) -> Step | None:
        """The step with another correction of an earlier refusal: an option of several."""
        for start in reversed(self._overcome):
            step = self._corrected(start) if self._is_open else None
            if step is not None:
                return step
        return None

    @property
    def _is_open(self) -> bool:
        return len(self._tried) < self._budget and time.thread_time() < self._deadline

    def _starts(self) -> Iterator[tuple[Site | None, Draft]]:
        """Yield the values that the source suggests: those of each call, then those of no call."""
        for site in [*self._reading.sites[:_MOST_SITES], None]:
            draft = tuple(self._first(parameter, site) for parameter in self._reading.parameters)
            # Small tensors are checked faster; a Function may need those of the call.
            yield site, self._settled(smaller(draft))
            yield site, self._settled(draft)

    def _first(self, parameter: Any, site: Site | None) -> Any:
        if site is not None and parameter.name in site.values:
            value = site.values[parameter.name]
            if is_reordered(parameter.name, site, self._reading.clues.undifferentiated):
                return {"values": value.double().tolist(), "requires_grad": False}
            return as_written(value)
        if parameter.default is not parameter.empty:
            return as_written(parameter.default)
        return next(suggested(self._reading, parameter))

    def _settled(self, draft: Draft) -> Draft:
        return settled(self._reading.parameters, self._reading.clues, draft)

    def _step(self, draft: Draft, site: Site | None) -> Step | None:
        key = repr(draft)
        if key in self._tried:
            return None
        self._tried.add(key)
        return Step(draft, self._attempt(draft), site)

    def _in_single(self, start: Step) -> Step | None:
        """The step with float32 tensors, if the refusal asks for these, and the next one does not.

        It counts as progress: a library refuses the dtype and the shapes at the same line.
        """
        if not asks_for_single(start.trial.refusal or ""):
            return None
        draft = tuple(_within(value, {"dtype": "float32"}) for value in start.draft)
        step = self._step(draft, start.site)
        if step is None or asks_for_single(step.trial.refusal or ""):
            return None
        return replace(step, is_corrected=True)

    def _repaired(self, start: Step) -> Step | None:
        """The step that meets all that the guard states which refused `start`; None without one.

        A shape may follow from another that is changed with it, so that one change is not enough,
        and it may be another guard that tells.
        """
        step = start
        for _ in range(_MOST_REPAIRS):
            repairs = read_repairs(self._reading, step.draft, step.trial.at)
            if repairs is None or not self._is_open:
                return None
            changed = self._step(self._settled(repairs.together()), start.site)
            if changed is None:
                return None
            if changed.height > start.height or changed.is_done:
                return changed
            step = changed
        return None

    def _corrected(self, start: Step) -> Step | None:
        """The step with a value that the refusal asks for, in its message or its code, or None.

        It counts as progress wherever it is refused next: the code for an option may stand above
        the line that refuses all others.
        """
        said = Said(start.trial.refusal or "", start.trial.line)
        names = [parameter.name for parameter in self._reading.parameters]
        found = corrections(names, start.draft, said)
        of_code = options_of(names, start.draft, start.trial.at)
        for at, value in itertools.chain(found, of_code):
            if not self._is_open:
                return None
            draft = (*start.draft[:at], value, *start.draft[at + 1 :])
            step = self._step(self._settled(draft), start.site)
            if step is None or step.trial.missed:
                continue
            earlier = (start, *self._overcome)
            if step.is_done or not any(_says_the_same(step, e, at) for e in earlier):
                self._overcome.append(start)
                return replace(step, is_corrected=True)
        return None

    def _higher(self, start: Step) -> Step | None:
        """The first neighbour that comes further than `start`; None without one.

        Where no single change helps, changes are made to those neighbours that are refused at the
        same place for another reason.
        """
        reasons = {start.trial.refusal}
        overcome = {each.height for each in self._overcome} - {start.height}
        frontier = [start]
        while frontier:
            sideways: list[Step] = []
            for draft in self._neighbours(frontier.pop(0)):
                if not self._is_open:
                    return None
                step = self._step(draft, start.site)
                if step is None or step.height in overcome or self._spoils_index(start, step):
                    continue  # It leads back to what a correction has overcome, or away.
                if step.height > start.height or step.is_done:
                    return step
                if step.height == start.height and step.trial.refusal not in reasons:
                    reasons.add(step.trial.refusal)
                    sideways.append(step)
            frontier += sideways[:_SIDEWAYS]
        return None

    def _spoils_index(self, start: Step, step: Step) -> bool:
        """Return True for no more integers where the source shows an index, if that is refused.

        The refusal may come from further inside a helper than the last one, as progress does.
        """
        if not _OF_INDEX.search(step.trial.refusal or step.trial.doubt or ""):
            return False
        changed = zip(self._reading.parameters, start.draft, step.draft, strict=True)
        return any(
            self._reading.uses[each.name].is_index and _is_whole(old) and not _is_whole(new)
            for each, old, new in changed
        )

    def _neighbours(self, step: Step) -> Iterator[Draft]:
        """Yield drafts with one other argument, those first that the refusal speaks of."""
        reason = step.trial.refusal or step.trial.doubt or ""
        yield from map(self._settled, self._as_stated(step, reason))
        if "finite" in reason:
            if any(map(_is_mask, step.draft)):  # It may give NaN for what it leaves out.
                yield tuple(_keeping_all(each) if _is_mask(each) else each for each in step.draft)
            for domain in _DOMAINS:
                yield tuple(_within(value, domain) for value in step.draft)
        if "finite" in reason or asks_for_single(reason):
            yield tuple(_within(value, {"dtype": "float32"}) for value in step.draft)
        is_of_several = reason.startswith(IN_BACKWARD) and _UNPACKS.search(reason)
        if is_of_several or _LEFT_OUT.search(reason):
            yield from _of_first_alone(step.draft)
        if _OF_ROW.search(reason):
            yield _vectors(step.draft)
        if found := _SUBSCRIPTS.search(reason):
            yield _of_leading_axes(step.draft, int(found[1]))
        for rank in _RANK.findall(reason):
            yield _of_rank(step.draft, int(rank))
        if found := _COMPLEX.search(reason):
            yield _complex(step.draft, int(found[1]))
        said = step.trial.refusal or ""
        is_about_values = not (_SCALAR.search(said) or step.trial.missed or step.trial.lacks)
        words = _words(said) if is_about_values else []
        sizes = [n for n in map(int, _NUMBER.findall(reason)) if 0 < n <= _LARGEST_SIZE]
        order = self._order(f"{step.trial.line} {reason}")
        for at in order:
            for value in _asked_for(step.draft[at], reason):
                yield (*step.draft[:at], value, *step.draft[at + 1 :])
        if _asks_for_object(reason) and order:
            at = order[0]
            # An option that is off asks for no method.
            maps = ({"literal": each} for each in linear_maps(self._reading))
            for value in (*switched_off(step.draft[at]), *maps):
                yield (*step.draft[:at], value, *step.draft[at + 1 :])
        streams = []
        for at in order:
            others = alternatives(self._reading, step.draft, at)
            spoken = words if self._may_be_word(at) else ()
            streams.append((at, itertools.chain(_of_sizes(step.draft[at], sizes), spoken, others)))
        for at, value in _in_turn(streams):
            if len(step.draft) == 1 and isinstance(value, list):
                continue  # An only argument is a tensor, or nothing has a gradient.
            if not is_same(value, step.draft[at]):
                yield self._settled((*step.draft[:at], value, *step.draft[at + 1 :]))
        if _CONDITION.search(reason):
            yield _scalars(step.draft)  # Last, since plain numbers are likelier.

    def _as_stated(self, step: Step, reason: str) -> Iterator[Draft]:
        """Yield drafts that the guard, or the line, that refused a draft states."""
        repairs = read_repairs(self._reading, step.draft, step.trial.at)
        if repairs is not None:
            yield from repairs.singly()
            yield from repairs.of_families(reason)
        if step.trial.reduced and is_floating(step.draft[step.trial.reduced[0]]):
            at, shape = step.trial.reduced
            value = {**_without_values(step.draft[at]), "shape": list(shape)}
            yield (*step.draft[:at], value, *step.draft[at + 1 :])
        if step.trial.doubt and any(map(_is_mask, step.draft)):
            yield tuple(_keeping_most(each) if _is_mask(each) else each for each in step.draft)
        if (found := _OF_NUMBER.search(reason)) and is_of_tensor(found[1]):
            names = [each.name for each in self._reading.parameters]
            yield _with_tensors(step.draft, [speaks_of(n, step.trial.line) for n in names])

    def _may_be_word(self, at: int) -> bool:
        name = self._reading.parameters[at].name
        use = self._reading.uses[name]
        is_other = bool(use.attributes or use.is_count or use.is_dtype or use.loops)
        return not (is_other or name in self._reading.clues.tensors)

    def _order(self, said: str) -> list[int]:
        names = [parameter.name for parameter in self._reading.parameters]
        spoken = [i for i, name in enumerate(names) if speaks_of(name, said)]
        return [*spoken, *(i for i in range(len(names)) if i not in spoken)]


def _words(said: str) -> list[str]:
    """The words of a message, which may list what an option can be."""
    return list(dict.fromkeys(re.findall(r"\b[a-z][a-z_]{2,}\b", said)))[:_MOST_WORDS]


def _says_the_same(step: Step, start: Step, at: int) -> bool:
    """Return True for the same message, but for the value at a position that it may quote."""
    said = [(each.trial.refusal or "").replace(str(each.draft[at]), "") for each in (step, start)]
    return said[0] == said[1]


def speaks_of(name: str, said: str) -> bool:
    """Return True for a text with a name, also as words: ``chunk size`` for ``chunk_size``."""
    return bool(re.search(rf"\b{re.escape(name).replace('_', '[_ ]')}\b", said))


def _asks_for_object(reason: str) -> bool:
    """Return True for the refusal of what is not called, or has no attribute but a tensor's."""
    found = _OBJECT.search(reason)
    return found is not None and not is_of_tensor(found[1] or found[2] or "")


def _in_turn(streams: Sequence[tuple[int, Iterator[Any]]]) -> Iterator[tuple[int, Any]]:
    """Yield some values of each stream in turn, until all are empty."""
    remaining = list(streams)
    while remaining:
        for each in list(remaining):
            at, stream = each
            values = list(itertools.islice(stream, _IN_TURN))
            if len(values) < _IN_TURN:
                remaining.remove(each)
            yield from ((at, value) for value in values)


def _asked_for(value: Any, reason: str) -> Iterator[dict[str, Any]]:
    """Yield the tensor with the dtype or the number of dimensions that a message states."""
    if value is None and _SCALAR.search(reason):
        # Forward may have put an empty tensor in its place.
        yield {"shape": [], "requires_grad": False}
    if not is_tensor(value):
        return
    if _SCALAR.search(reason):
        yield {**_without_values(value), "shape": []}
    if _VECTOR.search(reason) and not asks(value) and len(shape_of(value)) > 1:
        yield {"shape": shape_of(value)[:1], "dtype": "int64", "low": 0, "high": 2}
    if is_floating(value):
        if _TAKES_BOOLEANS.search(reason):
            yield {"shape": shape_of(value), "dtype": "bool"}
        yield from _with_index(value, reason)
        for size in map(int, _DIVISIBLE.findall(reason)):
            # The part of a tensor that is meant may be half of it.
            yield from _of_last_extent(value, (size, 2 * size))
        for extents in map(_stated_extents, _STATED_SHAPE.findall(reason)):
            yield {**_without_values(value), "shape": extents}
        ranks = [int(rank) for rank in _RANK.findall(reason)]
        ranks += [int(dimension) + 1 for dimension in _DIMENSION.findall(reason)]
        yield from ({**_without_values(value), "shape": list(_EXTENTS[:rank])} for rank in ranks)
    else:
        yield from ({**value, "dtype": dtype} for dtype in _INTEGERS.findall(reason))


def _with_index(value: dict[str, Any], reason: str) -> Iterator[dict[str, Any]]:
    """Yield the tensor with an extent that has the index which a message says is out of bounds."""
    found = _OUT_OF_BOUNDS.search(reason)
    index, size = (int(found[1]), int(found[2])) if found else (_LARGEST_SIZE, 0)
    own = shape_of(value)
    if index < _LARGEST_SIZE and size in own:
        axis = len(own) - 1 - own[::-1].index(size)
        yield {**_without_values(value), "shape": [*own[:axis], index + 1, *own[axis + 1 :]]}


def _of_last_extent(value: dict[str, Any], sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the tensor with these extents of its last axis."""
    own = shape_of(value)
    for size in sizes if own else ():
        yield {**_without_values(value), "shape": [*own[:-1], size]}


def _complex(draft: Draft, position: int) -> Draft:
    """The draft with complex numbers in the tensor at a position."""
    return tuple(
        {**value, "dtype": "complex128"} if at == position and is_floating(value) else value
        for at, value in enumerate(draft)
    )


def _of_first_alone(draft: Draft) -> Iterator[Draft]:
    """Yield the draft with operators on the first tensor, which alone asks for a gradient.

    An object may also compute the gradients of the other tensors, several at once.
    """
    held = [value.get("literal") if isinstance(value, dict) else None for value in draft]
    first = next((at for at, value in enumerate(draft) if is_floating(value)), None)
    if first is None or not any(map(_has_operator, held)):
        return
    fixed = (
        {**value, "requires_grad": False} if is_floating(value) and at != first else value
        for at, value in enumerate(draft)
    )
    pairs = zip(fixed, held, strict=True)
    yield tuple(
        {"literal": Operator(at=0)} if _has_operator(own) else value for value, own in pairs
    )


def _has_operator(held: Any) -> bool:
    """Return True for an operator, or an object with one for a method."""
    parts = vars(held).values() if isinstance(held, SimpleNamespace) else (held,)
    return any(isinstance(each, Operator) for each in parts)


def _is_mask(value: Any) -> bool:
    return is_tensor(value) and value.get("dtype") == "bool" and bool(shape_of(value))


def _is_whole(value: Any) -> bool:
    return is_tensor(value) and "int" in str(value.get("dtype"))


def _keeping_all(mask: dict[str, Any]) -> dict[str, Any]:
    return {"values": np.ones(shape_of(mask), bool).tolist()}


def _keeping_most(mask: dict[str, Any]) -> dict[str, Any]:
    """A mask that keeps most entries: where a row keeps one alone, a softmax is constant."""
    shape = shape_of(mask)
    keeps = np.indices(shape).sum(axis=0) % max(_EXTENTS) != 1
    return {"values": keeps.tolist()}


def _with_tensors(draft: Draft, spoken: Sequence[bool]) -> Draft:
    """The draft with a tensor in place of each number that a line speaks of."""
    numbers = {at for at, each in enumerate(draft) if isinstance(each, int | float)}
    chosen = {at for at in numbers if spoken[at]} or numbers
    shapes = [shape_of(each) for each in draft if is_floating(each)]
    tensor = {"shape": max(shapes, key=math.prod, default=list(_EXTENTS[1:3]))}
    return tuple(tensor if at in chosen else each for at, each in enumerate(draft))


def _vectors(draft: Draft) -> Draft:
    """The draft with the last axis alone of each tensor of several axes."""
    return tuple(
        {**_without_values(value), "shape": shape_of(value)[-1:]} if is_floating(value) else value
        for value in draft
    )


def _of_leading_axes(draft: Draft, rank: int) -> Draft:
    """The draft without the further axes of tensors: an operand may be computed from several."""
    return tuple(
        {**_without_values(value), "shape": shape_of(value)[:rank]} if is_floating(value) else value
        for value in draft
    )


def _of_rank(draft: Draft, rank: int) -> Draft:
    """The draft with as many dimensions in each tensor that asks for a gradient."""
    shape = list(_EXTENTS[:rank])
    return tuple(
        {**_without_values(value), "shape": shape} if asks(value) else value for value in draft
    )


def _scalars(draft: Draft) -> Draft:
    """The draft with one number in each tensor after the first."""
    first = next((at for at, value in enumerate(draft) if is_floating(value)), len(draft))
    return tuple(
        {**_without_values(value), "shape": []} if at > first and is_floating(value) else value
        for at, value in enumerate(draft)
    )


def _of_sizes(value: Any, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the tensor with an extent that a message speaks of, such as ``3x4 and 12x16``."""
    if not is_tensor(value):
        return
    own = shape_of(value)
    for axis in reversed(range(len(own))):
        for size in dict.fromkeys(sizes):
            if own[axis] in sizes and size != own[axis]:
                yield {**_without_values(value), "shape": [*own[:axis], size, *own[axis + 1 :]]}


def _stated_extents(text: str) -> list[int]:
    """Extents for names and numbers, a different one for each name."""
    parts = [part for part in text.replace(" ", "").split(",") if part.strip(".*")]
    names = [name for name in dict.fromkeys(parts) if not name.isdecimal()]
    numbers = dict(zip(names, itertools.cycle(_EXTENTS[:-1])))
    return [numbers[part] if part in numbers else int(part) for part in parts]


def _without_values(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key != "values"}


def _within(value: Any, domain: Domain) -> Any:
    if is_tensor(value) and "values" not in value and "dtype" not in value:
        return {**value, **domain}
    return value

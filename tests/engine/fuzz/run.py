"""Runs a program on both libraries, statement by statement, and compares what each leaves."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tests.engine.fuzz.compare import TOLERANCE, Difference, different_facts, same
from tests.engine.fuzz.doubts import EVERYTHING, Doubt, Doubts, bound_names, read_names
from tests.engine.fuzz.explained import FROM_GRAPH, TRACED, reason_of
from tests.engine.fuzz.lineage import LINEARIZED, Lineage
from tests.engine.fuzz.machine import Machine, compiled
from tests.engine.fuzz.observe import Facts, facts
from tests.engine.fuzz.program import Program
from tests.engine.fuzz.sharing import memories, overlap, share_on_one_side

Step = tuple[list[str] | None, str, tuple[Any, ...], dict[str, Facts]]
"""Types and text of the error, the narrowest first, events, facts of tensors by name."""


DERIVING = re.compile(r"torch\.func\.|autograd\.|backward\(|fwAD\.|\.grad\b")
"""Statements whose results are derivatives, and in dual levels."""


@functools.cache
def libraries() -> tuple[Any, Any]:
    """PyTorch, and the engine."""
    import torch

    import gradtool.engine

    torch.set_num_threads(1)
    return torch, gradtool.engine


class Recording:
    """One side of a run: its machine, and the tensors that it has seen."""

    def __init__(self, torch: Any, watched: bool) -> None:
        self.machine = Machine(torch)
        self.watched = watched
        """Look at every tensor after every statement, and not just at what it bound."""
        self.tolerance = 0.0
        """That of the least precise dtype so far: rounding goes where values go."""
        self.makers: dict[str, str] = {}
        """The statement that bound each tensor's name."""
        self.changed: dict[str, set[str]] = {}
        """Facts that the last statement changed, by the name of what was seen before."""
        self._known: dict[str, int] = {}
        self.seen: dict[str, Facts] = {}
        """What was last seen of each tensor."""
        self._first_versions: dict[str, tuple[int, int]] = {}

    def step(self, statement: str) -> Step:
        """Run one statement and look at what it left."""
        code = compiled(statement)
        error: BaseException | None = SyntaxError()
        if code is not None:
            error = self.machine.run(code)
        events = tuple(self.machine.events)
        self.machine.events.clear()
        return (
            None if error is None else [each.__name__ for each in type(error).__mro__],
            "" if error is None else str(error).partition("\n")[0],
            events,
            self.look(self.watched, statement),
        )

    def is_derivative(self, name: str) -> bool:
        """Whether a statement that computes derivatives bound this name."""
        return bool(DERIVING.search(self.makers.get(name, "")))

    def has_overlapping(self, statement: str) -> bool:
        """Whether elements of a tensor that a statement names share memory."""
        tensors = self.machine.tensors()
        return overlap([tensors[name] for name in read_names(statement) if name in tensors])

    def look(self, everywhere: bool, statement: str = "") -> dict[str, Facts]:
        """The facts of all tensors, or of those that this statement gave a name."""
        tensors = self.machine.tensors()
        names: dict[int, str] = {}
        for name, each in tensors.items():
            names.setdefault(id(each), name)
        fresh = [name for name, each in tensors.items() if self._known.get(name) != id(each)]
        self._known = {name: id(each) for name, each in tensors.items()}
        first = {id(each): name for name, each in reversed(tensors.items())}
        self.makers |= {  # Another name of a tensor does not make it.
            name: statement if first[id(tensors[name])] in fresh
            else self.makers[first[id(tensors[name])]]
            for name in fresh
        }  # fmt: skip
        level = self.in_dual_level()
        torch = self.machine.torch
        seen = {
            name: self._facts(torch, name, tensors[name], names, level)
            for name in (tensors if everywhere else fresh)
        }
        self.changed = {name: {"everything"} for name in fresh} | {
            name: facts for name in self.seen.keys() & seen.keys() - set(fresh)
            if (facts := {each[0] for each in different_facts(self.seen[name], seen[name])})
        }  # fmt: skip
        self.seen = seen
        self.tolerance = max(
            [self.tolerance, *(TOLERANCE.get(each.get("dtype", ""), 0) for each in seen.values())]
        )
        return seen

    def _facts(
        self, torch: Any, name: str, tensor: Any, names: dict[int, str], level: bool
    ) -> Facts:
        try:
            found = facts(torch, tensor, names, level)
        except Exception as error:  # to look is part of the program
            return {"looking": type(error).__name__, "text": str(error)[:60]}
        if self.is_derivative(name):  # the node is that of a formula
            found["grad_fn"] = found["grad_fn"] and "a node"
        found.pop("grad.grad_fn", None)
        found["_version"] = self._changes(name, tensor, found["_version"])
        return found

    def _changes(self, name: str, tensor: Any, version: int | None) -> int | None:
        """Changes in place since a tensor got its name; how it was made is a library's own."""
        if version is None:
            return None
        identity, first = self._first_versions.get(name, (0, 0))
        if identity != id(tensor):
            identity, first = id(tensor), version
            self._first_versions[name] = identity, first
        return version - first

    def in_dual_level(self) -> bool:
        """Whether a level of forward mode is entered."""
        opened = self.machine.space["opened"]
        return any(type(each).__name__ == "dual_level" for each in opened)


@dataclass
class Outcome:
    """What a run of a program on both sides showed."""

    difference: Difference | None = None
    """The first that has no reason; the run ends there."""
    raising: set[int] = field(default_factory=set)
    """The statements that raise in PyTorch."""
    reasons: set[str] = field(default_factory=set)
    """Of the differences that were explained."""
    doubts: Doubts = field(default_factory=Doubts)
    """What differs for one of these reasons, or was computed from what does."""
    lineage: Lineage = field(default_factory=Lineage)


def compared(program: Program) -> Outcome:
    """Run a program on both sides to its end, or to the first difference that has no reason.

    A difference in a program that is not watched may have come up in an earlier statement, and for
    a reason: it is watched then.
    """
    outcome = _run(program)
    found = outcome.difference
    if program.watched or found is None:
        return outcome
    watched = _run(replace(program, watched=True))
    read = watched.doubts.reaching(found.statement)
    return watched if watched.difference or watched.doubts.reason_of(found, read) else outcome


def _run(program: Program) -> Outcome:
    torch, engine = libraries()
    one, other = Recording(torch, program.watched), Recording(engine, program.watched)
    outcome = Outcome()
    try:
        for at, statement in enumerate(program.statements):
            _step(at, statement, one, other, outcome)
            if outcome.difference is not None:
                return outcome
        _end(program, one, other, outcome)
    finally:
        other.machine.close()
        one.machine.close()
    return outcome


def _step(at: int, statement: str, one: Recording, other: Recording, outcome: Outcome) -> None:
    """Run one statement on both sides and compare what it left."""
    doubts = outcome.doubts
    read, inexact = doubts.reaching(statement), _is_inexact(statement, one, other)
    lineage = outcome.lineage.reaching(statement)
    wanted, got = one.step(statement), other.step(statement)
    outcome.lineage.follow(statement, one.changed.keys() | other.changed.keys())
    if wanted[0] is not None:
        outcome.raising.add(at)
    if doubts.of:
        doubts.spread(statement, _either(one.changed, other.changed), read)
    _premise(statement, wanted, outcome)
    for found in differing(at, statement, wanted, got, one.tolerance):
        maker = one.makers.get(found.where, "")
        derived = bool(DERIVING.search(maker if found.where else statement))
        own = outcome.lineage.of.get(found.where, frozenset()) if found.where else lineage
        difference = replace(
            found, maker=maker, derived=derived, overlapping=one.has_overlapping(statement),
            sharing=_share_differently(found, one, other), inexact=inexact, lineage=own,
        )  # fmt: skip
        if text := doubts.reason_of(difference, read):
            if difference.what == "error":
                _doubt(difference, text, EVERYTHING, one, other, doubts)
            continue
        reason = reason_of(difference)
        if reason is None:
            outcome.difference = difference
            return
        outcome.reasons.add(reason.text)
        if reason.spreads:
            _doubt(difference, reason.text, reason.spreads, one, other, doubts)


def _premise(statement: str, wanted: Step, outcome: Outcome) -> None:
    """Put in doubt the graph behind what a statement computed by a graph of its own."""
    if LINEARIZED in outcome.lineage.reaching(statement) and wanted[0] is None:
        for name in bound_names(statement):
            if wanted[3].get(name, {}).get("requires_grad"):
                outcome.doubts.add(name, Doubt(TRACED, FROM_GRAPH))


def _is_inexact(statement: str, one: Recording, other: Recording) -> bool:
    """Whether a tensor that a statement reads was last seen with values that differ in bits."""
    pairs = [(one.seen.get(name), other.seen.get(name)) for name in read_names(statement)]
    return any(
        x is not None and y is not None and not _same_bits(x.get("value"), y.get("value"))
        for x, y in pairs
    )


def _same_bits(one: Any, other: Any) -> bool:
    return one is None or other is None or bool(one.tobytes() == other.tobytes())


def _share_differently(found: Difference, one: Recording, other: Recording) -> bool:
    if not found.where:
        return False
    sides = [memories(each.machine.tensors()) for each in (one, other)]
    return share_on_one_side(found.where, *sides)


def _doubt(
    difference: Difference,
    reason: str,
    spreads: frozenset[str],
    one: Recording,
    other: Recording,
    doubts: Doubts,
) -> None:
    """Put in doubt the tensor that differs, or what a statement left that did something else."""
    watched, one.watched, other.watched = one.watched, True, True
    seen, found = one.look(True), other.look(True)
    names = {difference.where}
    if not difference.where:
        differing = {each.where for each in _of_tensors(0, "", seen, found, one.tolerance)}
        if not watched:  # others may differ since an earlier statement
            differing &= read_names(difference.statement)
        names = bound_names(difference.statement) | differing
    for name in names:
        doubts.add(name, Doubt(reason, spreads))


def _either(one: dict[str, set[str]], other: dict[str, set[str]]) -> dict[str, set[str]]:
    return {name: one.get(name, set()) | other.get(name, set()) for name in one.keys() | other}


def _end(program: Program, one: Recording, other: Recording, outcome: Outcome) -> None:
    """Compare all tensors that are left."""
    seen, found = one.look(True), other.look(True)
    last = len(program.statements)
    for each in _of_tensors(last, program.statements[-1], seen, found, one.tolerance):
        if not outcome.doubts.reason_of(each, set()):
            outcome.difference = replace(each, maker=one.makers.get(each.where, ""))
            return


def differing(
    at: int, statement: str, wanted: Step, got: Step, tolerance: float
) -> Iterator[Difference]:
    """The differences between one step of two sides."""
    if bool(wanted[0]) != bool(got[0]) or (wanted[0] and got[0] and wanted[0][0] not in got[0]):
        expected, found = (each[0][0] if each[0] else None for each in (wanted, got))
        yield Difference(at, "error", "", expected, found, statement, texts=(wanted[1], got[1]))
    if not same(wanted[2], got[2], tolerance):
        yield Difference(at, "events", "", wanted[2], got[2], statement)
    for each in _of_tensors(at, statement, wanted[3], got[3], tolerance):
        yield replace(each, texts=(wanted[1], got[1]))


def _of_tensors(
    at: int, statement: str, wanted: dict[str, Facts], got: dict[str, Facts], tolerance: float
) -> Iterator[Difference]:
    for name, expected in wanted.items():
        if name not in got:
            yield Difference(at, "missing", name, expected, None, statement)
            continue
        for fact in different_facts(expected, got[name], tolerance):
            dtype = str(expected.get("dtype", ""))
            yield Difference(at, *fact[:1], name, *fact[1:], statement, dtype=dtype)
    for name in got.keys() - wanted.keys():
        yield Difference(at, "extra", name, None, got[name], statement)

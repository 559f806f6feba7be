"""Runs a program on both libraries, statement by statement, and compares what each leaves."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tests.engine.fuzz.compare import Difference, different_facts, same
from tests.engine.fuzz.doubts import EVERYTHING, Doubt, Doubts, bound_names, read_names
from tests.engine.fuzz.explained import TRACED, reason_of
from tests.engine.fuzz.lineage import LINEARIZED, Lineage
from tests.engine.fuzz.observe import Facts
from tests.engine.fuzz.program import Program
from tests.engine.fuzz.recording import DERIVING, Recording, Step
from tests.engine.fuzz.signs import FROM_GRAPH
from tests.engine.fuzz.traits import is_inexact, shares_differently


@functools.cache
def libraries() -> tuple[Any, Any]:
    """PyTorch, and the engine."""
    import torch

    import gradtool.engine

    torch.set_num_threads(1)
    return torch, gradtool.engine


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
    read, inexact = doubts.reaching(statement), is_inexact(statement, one, other)
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
            aliasing=one.has_aliases(statement), single=one.has_single(statement),
            sharing=shares_differently(found, one, other), inexact=inexact, lineage=own,
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
            dtype, view = str(expected.get("dtype", "")), bool(expected.get("is_view"))
            yield Difference(at, *fact[:1], name, *fact[1:], statement, dtype=dtype, view=view)
    for name in got.keys() - wanted.keys():
        yield Difference(at, "extra", name, None, got[name], statement)

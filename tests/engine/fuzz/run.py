"""Runs a program on both libraries, statement by statement, up to the first difference."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.engine.fuzz.compare import TOLERANCE, Difference, different_facts, same
from tests.engine.fuzz.explained import reason_of
from tests.engine.fuzz.machine import Machine, compiled
from tests.engine.fuzz.observe import Facts, facts
from tests.engine.fuzz.program import Program

Step = tuple[list[str] | None, str, tuple[Any, ...], dict[str, Facts]]
"""Types and text of the error, the narrowest first, events, facts of tensors by name."""


DERIVING = re.compile(r"torch\.func\.|autograd\.|backward\(|fwAD\.|\.grad\b")
"""Statements whose results are derivatives, and in dual levels."""
NAMES = re.compile(r"\bt\d+\b")
OF_FORMULAS = (
    "stride", "storage_offset", "_base", "grad_fn", "is_inference", "requires_grad", "is_leaf",
)  # fmt: skip
"""Facts of derivatives that follow from the formula in which each library writes them."""


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
        self.tolerance = 0.0
        """That of the least precise dtype so far: rounding goes where values go."""
        self._derived: set[str] = set()
        self._descended: set[str] = set()
        """Names of derivatives, and of what was computed from them."""
        self._known: dict[str, int] = {}
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
            self.look(
                self.watched, bool(DERIVING.search(statement)), self.is_of_derivative(statement)
            ),
        )

    def is_of_derivative(self, statement: str) -> bool:
        """Whether a statement computes a derivative, or works on one."""
        return bool(DERIVING.search(statement)) or not self._descended.isdisjoint(
            NAMES.findall(statement)
        )

    def look(
        self, everywhere: bool, derived: bool = False, descended: bool = False
    ) -> dict[str, Facts]:
        """The facts of all tensors, or of those that got a name since the last look.

        New ones may be derivatives: their layout and nodes are those of a formula.
        """
        tensors = self.machine.tensors()
        names: dict[int, str] = {}
        for name, each in tensors.items():
            names.setdefault(id(each), name)
        fresh = [name for name, each in tensors.items() if self._known.get(name) != id(each)]
        self._known = {name: id(each) for name, each in tensors.items()}
        self._derived = (self._derived - set(fresh)) | set(fresh if derived else ())
        self._descended = (self._descended - set(fresh)) | set(fresh if descended else ())
        level = self.in_dual_level()
        torch = self.machine.torch
        seen = {
            name: self._facts(torch, name, tensors[name], names, level)
            for name in (tensors if everywhere else fresh)
        }
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
        version = found["_version"]
        if name in self._derived and found["is_inference"]:
            version = None
        if name in self._derived:
            found = {
                fact: what for fact, what in found.items()
                if fact not in OF_FORMULAS and not fact.startswith("grad")
            }  # fmt: skip
        found.pop("grad.grad_fn", None)
        found["_version"] = self._changes(name, tensor, version)
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
    """The first that has no reason."""
    raising: set[int] = field(default_factory=set)
    """The statements that raise in PyTorch."""
    reasons: set[str] = field(default_factory=set)
    """Of the differences that were explained."""


def compared(program: Program) -> Outcome:
    """Run a program on both sides up to the first difference that has no reason.

    One with a reason that leaves the two sides in different states ends the run too.
    """
    torch, engine = libraries()
    one, other = Recording(torch, program.watched), Recording(engine, program.watched)
    outcome = Outcome()
    try:
        for found in _differences(program, one, other, outcome.raising):
            reason = reason_of(found, program)
            if reason is None:
                outcome.difference = found
                break
            outcome.reasons.add(reason.text)
            if not reason.goes_on:
                break
    finally:
        other.machine.close()
        one.machine.close()
    return outcome


def _differences(
    program: Program, one: Recording, other: Recording, raising: set[int]
) -> Iterator[Difference]:
    """All differences in the order in which they come up; `raising` is filled on the way."""
    for at, statement in enumerate(program.statements):
        wanted, got = one.step(statement), other.step(statement)
        if wanted[0] is not None:
            raising.add(at)
        of_derivative = one.is_of_derivative(statement)
        for found in differing(at, statement, wanted, got, one.tolerance):
            yield replace(found, derived=of_derivative or one.is_of_derivative(found.where))
    for found in at_the_end(program.statements, one, other):
        of_derivative = one.is_of_derivative(found.where)
        yield replace(found, raised=bool(raising), derived=of_derivative)


def at_the_end(statements: Sequence[str], one: Recording, other: Recording) -> Iterator[Difference]:
    """The differences between all tensors that are left."""
    seen, found = one.look(True), other.look(True)
    return _of_tensors(len(statements), statements[-1], seen, found, one.tolerance)


def differing(
    at: int, statement: str, wanted: Step, got: Step, tolerance: float
) -> Iterator[Difference]:
    """The differences between one step of two sides."""
    if bool(wanted[0]) != bool(got[0]) or (wanted[0] and got[0] and wanted[0][0] not in got[0]):
        note = f"{wanted[1]} | {got[1]}"
        expected, found = (each[0][0] if each[0] else None for each in (wanted, got))
        yield Difference(at, "error", "", expected, found, statement, note=note)
    if not same(wanted[2], got[2], tolerance):
        yield Difference(at, "events", "", wanted[2], got[2], statement)
    for each in _of_tensors(at, statement, wanted[3], got[3], tolerance):
        yield replace(each, raised=wanted[0] is not None)


def _of_tensors(
    at: int, statement: str, wanted: dict[str, Facts], got: dict[str, Facts], tolerance: float
) -> Iterator[Difference]:
    for name, expected in wanted.items():
        if name not in got:
            yield Difference(at, "missing", name, expected, None, statement)
            continue
        for fact in different_facts(expected, got[name], tolerance):
            yield Difference(at, fact[0], name, fact[1], fact[2], statement)
    for name in got.keys() - wanted.keys():
        yield Difference(at, "extra", name, None, got[name], statement)

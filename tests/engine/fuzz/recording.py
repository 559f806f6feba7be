"""One side of a run: its machine, and what each statement left there."""

from __future__ import annotations

import re
from typing import Any

from tests.engine.fuzz.compare import TOLERANCE, different_facts
from tests.engine.fuzz.doubts import read_names
from tests.engine.fuzz.machine import Machine, compiled
from tests.engine.fuzz.observe import Facts, facts
from tests.engine.fuzz.sharing import memory_of, overlap
from tests.engine.fuzz.signs import AN_ASSERTION, ASSERTIONS

Step = tuple[list[str] | None, str, tuple[Any, ...], dict[str, Facts]]
"""Types and text of the error, the narrowest first, events, facts of tensors by name."""


DERIVING = re.compile(r"torch\.func\.|autograd\.|backward\(|fwAD\.|\.grad\b")
"""Statements whose results are derivatives, and in dual levels."""


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
        return overlap(self._named(statement))

    def has_aliases(self, statement: str) -> bool:
        """Whether two tensors that a statement names are of the same memory."""
        found = [memory_of(each) for each in self._named(statement)]
        places = [place for place in found if place is not None]
        return len(set(places)) < len(places)

    def has_single(self, statement: str) -> bool:
        """Whether a tensor that a statement names has one element along a dimension."""
        return any(1 in each.shape for each in self._named(statement))

    def _named(self, statement: str) -> list[Any]:
        tensors = self.machine.tensors()
        return [tensors[name] for name in read_names(statement) if name in tensors]

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
            asserted = ASSERTIONS.search(str(error)) is not None
            name = AN_ASSERTION if asserted else type(error).__name__
            return {"looking": name, "text": str(error)[:60]}
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

"""Names in doubt: tensors that differ for a known reason, and what was computed from them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.engine.fuzz.compare import Difference, same

EVERYTHING = frozenset(("everything",))


@dataclass(frozen=True)
class Doubt:
    """Facts of a name that may differ, and the reason."""

    reason: str
    facts: frozenset[str]
    """Names of facts, "error" and "events" among them, or EVERYTHING."""
    only_grad: bool = False
    """Only the ``grad`` of the tensor descends from what differs."""

    def covers(self, what: str) -> bool:
        """Whether this fact may differ."""
        prefix, _, fact = what.rpartition(".")
        if self.only_grad and prefix != "grad" and what != "grad":
            return False
        if prefix == "grad" and "grad" in self.facts:  # whether there is one
            return True
        return self.facts is EVERYTHING or what in self.facts or fact in self.facts


@dataclass
class Doubts:
    """The doubts about each name, statement by statement."""

    of: dict[str, set[Doubt]] = field(default_factory=dict)

    def reaching(self, statement: str) -> set[Doubt]:
        """The doubts about what a statement reads."""
        found = set()
        for name in read_names(statement) if self.of else ():
            found |= {
                each for each in self.of.get(name, ())
                if not each.only_grad or ".grad" in statement
            }  # fmt: skip
        return found

    def spread(self, statement: str, changed: dict[str, set[str]], found: Iterable[Doubt]) -> None:
        """Put in doubt what a statement bound or changed, for these doubts about what it read.

        `changed` holds the facts that changed by the name of each tensor.
        """
        bound = bound_names(statement)
        for name in bound:
            self.of.pop(name, None)
        if ".as_strided" in statement:  # what lies elsewhere holds other values
            found = [replace(each, facts=EVERYTHING) for each in found]
        for each in found:
            for name in bound | changed.keys():
                only = name not in bound and all(fact.startswith("grad") for fact in changed[name])
                self.add(name, replace(each, only_grad=only))

    def add(self, name: str, doubt: Doubt) -> None:
        """Put a name in doubt."""
        self.of.setdefault(name, set()).add(doubt)

    def reason_of(self, difference: Difference, found: set[Doubt]) -> str | None:
        """The reason of a difference in what is in doubt, or in a statement that reads such."""
        about = self.of.get(difference.where, set()) if difference.where else found
        if difference.what == "events":  # a hook may have noted a gradient in doubt
            read = read_names(difference.statement) if self.of else ()
            about = about.union(*[self.of.get(name, set()) for name in read])
        for each in about:
            if each.covers(difference.what) or _is_of_facts(difference, each.facts):
                return each.reason
        return None


def _is_of_facts(difference: Difference, facts: frozenset[str]) -> bool:
    """Whether what was noted is the same but for these facts of the tensors in it."""
    if difference.what != "events":
        return False
    if _asked_for(difference.statement) & facts:
        return True
    return same(_less(difference.expected, facts), _less(difference.got, facts))


_ATTRIBUTES = {
    "is_contiguous": "stride", "is_set_to": "stride", "is_leaf": "is_leaf", "data_ptr": "is_view",
    "retains_grad": "retains_grad", "requires_grad": "requires_grad", "_base": "_base",
}  # fmt: skip


def _asked_for(statement: str) -> frozenset[str]:
    """The facts of tensors that a statement notes by themselves."""
    if not statement.startswith("note("):
        return frozenset()
    asked = (fact for name, fact in _ATTRIBUTES.items() if f".{name}" in statement)
    return frozenset(asked)


def _less(noted: Any, facts: frozenset[str]) -> Any:
    if isinstance(noted, tuple):
        return tuple(_less(each, facts) for each in noted)
    if isinstance(noted, dict):
        return {fact: what for fact, what in noted.items() if fact not in facts}
    return None if isinstance(noted, float | complex) and "value" in facts else noted


def read_names(statement: str) -> frozenset[str]:
    """The names that a statement uses."""
    return _names(statement)[0]


def bound_names(statement: str) -> frozenset[str]:
    """The names that a statement binds, as far as it goes before it raises."""
    return _names(statement)[1]


@functools.lru_cache(4096)
def _names(statement: str) -> tuple[frozenset[str], frozenset[str]]:
    try:
        nodes = list(ast.walk(ast.parse(statement)))
    except SyntaxError:
        return frozenset(), frozenset()
    names = [each for each in nodes if isinstance(each, ast.Name)]
    augmented = {id(each.target) for each in nodes if isinstance(each, ast.AugAssign)}
    read = {each.id for each in names if isinstance(each.ctx, ast.Load) or id(each) in augmented}
    bound = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    bound |= {each.name for each in nodes if isinstance(each, ast.ClassDef | ast.FunctionDef)}
    return frozenset(read), frozenset(bound)

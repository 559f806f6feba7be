"""All mutants of a Function: one mistake each, no two with the same source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from tests.mutation.operators import OPERATORS
from tests.mutation.operators.spoiling import SPOILING
from tests.mutation.originals import Original
from tests.mutation.places import Place, places


@dataclass(frozen=True)
class Mutant:
    """One wrong version of a Function, if it is wrong."""

    original: str
    method: str
    operator: str
    before: str
    """The statement that was changed; of a compound one its first line."""
    after: str
    occurrence: int
    """How many earlier mutants change equal statements in the same way."""
    code: CodeType
    """What defines the class when it is executed among the names of its module."""

    @property
    def fingerprint(self) -> str:
        """What it is, without the number of its line."""
        again = f" #{self.occurrence + 1}" if self.occurrence else ""
        return f"{self.original}.{self.method}: {self.before} -> {self.after}{again}"

    def build(self, original: Original) -> Any:
        """The class. Raises what its definition raises."""
        namespace = {**original.namespace, **SPOILING}
        exec(self.code, namespace)
        return namespace[original.target.__name__]


def mutants(original: Original) -> Iterator[Mutant]:
    """All that can be compiled, in the order of the source."""
    source = original.source
    seen = {ast.unparse(source)}
    counts: dict[tuple[str, ...], int] = {}
    for place in places(source):
        before = place.text()
        for operator, replacement in _replacements(place):
            with place.holding(replacement):
                text = ast.unparse(source)
                code = _compiled(source, original) if text not in seen else None
                after = place.text() if code else ""
            seen.add(text)
            if code:
                key = (place.scope.method, before, after)
                counts[key] = counts.get(key, -1) + 1
                yield Mutant(
                    original.id, place.scope.method, operator, before, after, counts[key], code
                )


def _replacements(place: Place) -> Iterator[tuple[str, ast.AST | None]]:
    for name, operator in OPERATORS.items():
        for replacement in operator(place):
            if replacement is not None and not hasattr(replacement, "lineno"):
                ast.fix_missing_locations(ast.copy_location(replacement, place.node))
            yield name, replacement


def _compiled(source: ast.Module, original: Original) -> CodeType | None:
    """The code of the tree as it is now; None where it is no Python."""
    try:
        return compile(source, str(original.checkable.file), "exec")
    except (SyntaxError, ValueError, TypeError):
        return None

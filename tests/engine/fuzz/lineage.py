"""Descent of tensors: the kinds of statements that a name goes back to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.engine.fuzz.doubts import bound_names, read_names

DERIVED, LINEARIZED, INTEGERS = "derived", "linearized", "integers"
"""Results of transforms and of recorded derivatives; of `linearize`; what was written into."""
INFERENCE = "inference"
"""What was computed in inference mode."""
STEPS_OF_ITS_OWN = "steps of its own"
"""Recorded derivatives and products of vectors, whose steps, and what these save, may differ."""

_KINDS = {
    DERIVED: re.compile(r"torch\.func\.|autograd\.functional|autograd\.grad\(|backward\("),
    LINEARIZED: re.compile(r"torch\.func\.linearize"),
    INFERENCE: re.compile(r"inference_mode"),
    STEPS_OF_ITS_OWN: re.compile(
        r"create_graph=True|lerp\(|linear\(|matmul\(| @ |tensordot\(|einsum\("
    ),
    INTEGERS: re.compile(r"\] = |\.(masked_|index_)?fill_\(|\.bernoulli_\("),
}


@dataclass
class Lineage:
    """The kinds of statements that each name descends from."""

    of: dict[str, frozenset[str]] = field(default_factory=dict)
    entered: frozenset[str] = frozenset()
    """The kinds of all statements from now on: a mode was entered."""

    def reaching(self, statement: str) -> frozenset[str]:
        """The kinds that a statement is of, or what it reads."""
        if statement.startswith("enter(torch.inference_mode"):
            self.entered = frozenset({INFERENCE})
        own = frozenset(kind for kind, text in _KINDS.items() if text.search(statement))
        own |= self.entered
        return own.union(*[self.of.get(name, frozenset()) for name in read_names(statement)])

    def follow(self, statement: str, changed: Iterable[str]) -> None:
        """Note what a statement bound or changed."""
        found = self.reaching(statement)
        bound = bound_names(statement)
        target = re.match(r"t\d+", statement)
        if target and INTEGERS in found:  # of which it may not be seen that it changed
            changed = {*changed, target[0]}
        for name in bound:
            self.of[name] = found
        for name in changed:
            if name not in bound and found:
                self.of[name] = self.of.get(name, frozenset()) | found

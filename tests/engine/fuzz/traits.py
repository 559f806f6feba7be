"""What is looked up about a difference, beside what differs."""

from __future__ import annotations

from typing import Any

from tests.engine.fuzz.compare import Difference
from tests.engine.fuzz.doubts import read_names
from tests.engine.fuzz.recording import Recording
from tests.engine.fuzz.sharing import memories, share_on_one_side


def is_inexact(statement: str, one: Recording, other: Recording) -> bool:
    """Whether a tensor that a statement reads was last seen with values that differ in bits."""
    pairs = [(one.seen.get(name), other.seen.get(name)) for name in read_names(statement)]
    return any(
        x is not None and y is not None and not _same_bits(x.get("value"), y.get("value"))
        for x, y in pairs
    )


def _same_bits(one: Any, other: Any) -> bool:
    return one is None or other is None or bool(one.tobytes() == other.tobytes())


def shares_differently(found: Difference, one: Recording, other: Recording) -> bool:
    """Whether the tensor that differs shares memory with another on one side only."""
    if not found.where:
        return False
    sides = [memories(each.machine.tensors()) for each in (one, other)]
    return share_on_one_side(found.where, *sides)

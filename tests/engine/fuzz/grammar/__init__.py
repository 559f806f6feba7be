"""Families of statements, with how often each is drawn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.engine.fuzz.draw import Draw
from tests.engine.fuzz.grammar import (
    backward,
    creation,
    elementwise,
    forward_ad,
    functions,
    hooks,
    indexing,
    inplace,
    library,
    modes,
    reductions,
    transforms,
    views,
)

Rule = Callable[[Draw], str | Sequence[str]]


@dataclass(frozen=True)
class Family:
    """Rules that write statements of one kind."""

    weight: float
    rules: Sequence[Rule]


FAMILIES: dict[str, Family] = {
    "creation": Family(0.6, creation.RULES),
    "elementwise": Family(2, elementwise.RULES),
    "reductions": Family(1, reductions.RULES),
    "views": Family(2, views.RULES),
    "inplace": Family(2, inplace.RULES),
    "indexing": Family(1.2, indexing.RULES),
    "modes": Family(0.6, modes.RULES),
    "hooks": Family(1, hooks.RULES),
    "backward": Family(1.6, backward.RULES),
    "functions": Family(0.8, functions.RULES),
    "forward_ad": Family(0.5, forward_ad.RULES),
    "transforms": Family(0.7, transforms.RULES),
    "library": Family(0.4, library.RULES),
}

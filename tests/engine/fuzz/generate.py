"""Writes a program: statements of many families, run on PyTorch as they are written."""

from __future__ import annotations

import random
from contextlib import suppress

from tests.engine.fuzz.draw import Draw, UnsuitableError
from tests.engine.fuzz.grammar import FAMILIES
from tests.engine.fuzz.machine import Machine, compiled
from tests.engine.fuzz.program import Program

TRIES = 40


def generate(seed: int, families: tuple[str, ...] = ()) -> Program:
    """The program of a seed; of some families only, and of those that make what they work on."""
    import torch

    rng = random.Random(seed)
    machine = Machine(torch)
    draw = Draw(rng, machine.space)
    statements: list[str] = []
    chosen = _weights(rng, families)
    try:
        for wanted in range(rng.randint(5, 28)):
            first = wanted < rng.randint(2, 4)
            statements += _written(draw, machine, {"creation": 1.0} if first else chosen)
    finally:
        machine.close()
    return Program(seed, tuple(statements), watched=rng.random() < 0.6)


def _weights(rng: random.Random, families: tuple[str, ...]) -> dict[str, float]:
    """Weights of the families: each program has its own, so that some dwell on a few."""
    base = {name: family.weight for name, family in FAMILIES.items()}
    if families:
        base = {name: weight for name, weight in base.items() if name in families}
        base |= {name: FAMILIES[name].weight * 0.3 for name in ("creation", "elementwise")}
        return base | {"backward": FAMILIES["backward"].weight}
    return {name: weight * rng.choice((0, 0.3, 1, 1, 3)) for name, weight in base.items()} | {
        "elementwise": base["elementwise"]
    }


def _written(draw: Draw, machine: Machine, weights: dict[str, float]) -> list[str]:
    """One statement, or the few that belong together, already run."""
    for _ in range(TRIES):
        # A rule may have been handed a tensor of another rank or dtype.
        with suppress(UnsuitableError, IndexError, RuntimeError):
            name = draw.rng.choices(list(weights), list(weights.values()))[0]
            text = draw.one_of(FAMILIES[name].rules)(draw)
            written = [text] if isinstance(text, str) else list(text)
            for each in written:
                code = compiled(each)
                if code is None:
                    raise SyntaxError(each)
                machine.run(code)
            machine.events.clear()
            return written
    return []

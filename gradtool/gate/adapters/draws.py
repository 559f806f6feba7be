"""Lets every call of a function draw the same random numbers.

A function that draws, as dropout does, is a different one at every call. With the generators
put back before each call it is one function, which has a derivative.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.gate.adapters.library import library


class Draws:
    """Where the global generators of Python, NumPy and the engine stood before the first call.

    Whether a function draws is seen at its first call; one that does not is left alone.
    """

    def __init__(self) -> None:
        self._start: tuple[Any, ...] | None = None
        self._looked = False
        self._free = False

    @property
    def is_needed(self) -> bool:
        """The first call drew."""
        return self._start is not None

    @contextmanager
    def freed(self) -> Iterator[None]:
        """Let calls in the block draw from where the generators stand."""
        before, self._free = self._free, True
        try:
            yield
        finally:
            self._free = before

    @contextmanager
    def repeated(self) -> Iterator[None]:
        """Make one call in the block."""
        if self._free or self._looked:
            if self._start is not None and not self._free:
                _go_to(self._start)
            yield
            return
        self._looked = True
        before = _states()
        try:
            yield
        finally:
            if pickle.dumps(before) != pickle.dumps(_states()):
                self._start = before


def _states() -> tuple[Any, ...]:
    return random.getstate(), np.random.get_state(), library().torch.get_rng_state().numpy()


def _go_to(states: tuple[Any, ...]) -> None:
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch = library().torch
    torch.set_rng_state(torch.from_numpy(states[2]))

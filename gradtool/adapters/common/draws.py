"""Lets every call of a function draw the same random numbers.

A function that draws, as dropout does, is a different one at every call. With the generators
put back before each call it is one function, which has a derivative.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gradtool.adapters.common.generators import Drawn, drawn, go_to
from gradtool.adapters.library import library

_States = tuple[Drawn, bytes]


class Draws:
    """Where the global generators of Python, NumPy and the engine stood before the first call.

    Whether a function draws is seen at its first call; one that does not is left alone.
    """

    def __init__(self) -> None:
        self._start: _States | None = None
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
            if _states() != before:
                self._start = before


def _states() -> _States:
    return drawn(), library().torch.get_rng_state().numpy().tobytes()


def _go_to(states: _States) -> None:
    go_to(states[0])
    torch = library().torch
    torch.set_rng_state(torch.from_numpy(np.frombuffer(states[1], np.uint8).copy()))

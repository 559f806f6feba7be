"""Random numbers: seeds of cases, and the state of the global generators.

The numbers of a case depend on its node id and the seed of the run. They do not depend on
which other cases there are, on their order, or on the folder that gradtool is started in.

A function that draws, as dropout does, is a different one at every call. With the generators
reset before each call it is one function, which has a derivative.
"""

from __future__ import annotations

import ctypes
import hashlib
import pickle
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gradtool.adapters.library import library


def stable_seed(*parts: object) -> int:
    """Return a 63-bit number derived from `parts`, the same in every process."""
    # With a separator, or ("a", "bc") and ("ab", "c") would be one seed.
    text = "\0".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1


def generator(*parts: object) -> np.random.Generator:
    """Return a generator seeded with `parts`."""
    return np.random.Generator(np.random.PCG64(stable_seed(*parts)))


@contextmanager
def global_generators(seed: int) -> Iterator[None]:
    """Seed the global generators of Python, NumPy and the library; restore them at the end.

    The user's code may draw from them, and must draw the same numbers in every run.
    """
    torch = library().torch
    before, of_library = generator_state(), torch.get_rng_state()
    random.seed(seed)
    _seed_numpy(seed)
    torch.manual_seed(seed)
    try:
        yield
    finally:
        set_generator_state(before)
        torch.set_rng_state(of_library)


# ---- state of the global generators -----------------------------------------------------------

_MERSENNE_BYTES = 4 * 624 + 4
"""Size of the Mersenne Twister's state in memory: its key and the position in it."""


@dataclass(frozen=True)
class _NumPyState:
    """State of NumPy's global generator."""

    generator: int
    """Its `id`: users may replace it."""
    memory: bytes
    """All of the state except the normal number that `has_gauss` announces."""
    has_gauss: int
    """True if it holds a normal number that is drawn already."""
    full: Any = field(compare=False)
    """What NumPy itself says of it; None for a new seed, of which `memory` says all."""

    def read(self) -> Any:
        """The state as NumPy takes it."""
        if self.full is not None:
            return self.full
        *key, position = np.frombuffer(self.memory, np.uint32)
        state = {"key": np.array(key, np.uint32), "pos": int(position)}
        return {"bit_generator": "MT19937", "state": state, "has_gauss": 0, "gauss": 0.0}


@dataclass(frozen=True)
class _PythonState:
    """State of Python's global generator."""

    memory: Any
    """All of the state except the normal number that may be left from a pair."""
    normal: float | None
    full: Any = field(compare=False)


class GeneratorState(NamedTuple):
    """State of the generators of Python and NumPy; equal if nothing was drawn in between."""

    python: _PythonState
    numpy: _NumPyState


_python: Any = random.getstate.__self__  # type: ignore[attr-defined]  # it is a bound method
"""Python's global generator."""

_PYTHON_HEADER = object.__basicsize__
_PYTHON_BYTES = random.Random.__base__.__basicsize__ - _PYTHON_HEADER  # type: ignore[union-attr]
"""Size of its state in memory, which is all that its class in C adds to an object."""

_python_memory = (ctypes.c_char * _PYTHON_BYTES).from_address(id(_python) + _PYTHON_HEADER)
"""Its state in memory; used in CPython only."""

_last_of_python: _PythonState | None = None
"""Last state read from Python, which is read as that of NumPy is."""

_last: _NumPyState | None = None
"""Last state read from NumPy.

Reading it takes a third of a millisecond, as long as a whole call to a small Function. So it is
read only if the memory that holds it has other bytes than at the last reading.
"""


def generator_state() -> GeneratorState:
    """Read the state of the generators of Python and NumPy."""
    return GeneratorState(_python_state(), _numpy_state())


def set_generator_state(state: GeneratorState) -> None:
    """Set the state of the generators of Python and NumPy."""
    global _last
    random.setstate(state.python.full)
    np.random.set_state(state.numpy.read())
    _last = state.numpy


def _python_state() -> _PythonState:
    global _last_of_python
    if sys.implementation.name != "cpython":
        full = random.getstate()
        return _PythonState(full, None, full)
    memory, normal, last = _python_memory.raw, _python.gauss_next, _last_of_python
    if last is None or (last.memory, last.normal) != (memory, normal):
        last = _last_of_python = _PythonState(memory, normal, random.getstate())
    return last


def _seed_numpy(seed: int) -> None:
    """Seed NumPy's global generator, whose state then need not be read before it is drawn from."""
    global _last
    np.random.seed(seed % 2**32)  # It takes 32 bits only.
    generator: Any = np.random.get_bit_generator()  # type: ignore[attr-defined]  # it is public
    held = _memory(generator)
    _last = None if held is None else _NumPyState(id(generator), held.raw, 0, None)


def _numpy_state() -> _NumPyState:
    global _last
    generator: Any = np.random.get_bit_generator()  # type: ignore[attr-defined]  # it is public
    last = _last
    held = _memory(generator)
    memory = b"" if held is None else held.raw
    same = last is not None and (last.generator, last.memory) == (id(generator), memory)
    # Drawing a normal number that is held already leaves the memory as it is.
    if last is None or not same or last.has_gauss or not memory:
        full = np.random.get_state(legacy=False)
        memory = memory or pickle.dumps(full)
        last = _NumPyState(id(generator), memory, full["has_gauss"], full)
        _last = last
    return last


@lru_cache(maxsize=1)
def _memory(generator: Any) -> ctypes.Array[ctypes.c_char] | None:
    """Return the memory that holds the state; None if its size is not known."""
    if not isinstance(generator, np.random.MT19937):
        return None
    return (ctypes.c_char * _MERSENNE_BYTES).from_address(generator.ctypes.state_address)


# ---- the same draws in every call -------------------------------------------------------------

_States = tuple[GeneratorState, bytes]
"""The state of the library's generator comes second."""


class RepeatedDraws:
    """Lets every call to a function draw the same random numbers.

    The first call shows whether the function draws; for one that does not, nothing is reset.
    """

    def __init__(self) -> None:
        self._start: _States | None = None
        self._called = False
        self._free = False

    @property
    def is_over(self) -> bool:
        """True if a call has shown that there is nothing to reset."""
        return self._called and self._start is None

    @property
    def is_needed(self) -> bool:
        """True if the first call drew."""
        return self._start is not None

    @contextmanager
    def freed(self) -> Iterator[None]:
        """Let calls in the block draw without resetting the generators first."""
        before, self._free = self._free, True
        try:
            yield
        finally:
            self._free = before

    @contextmanager
    def repeated(self) -> Iterator[None]:
        """Reset the generators for one call in the block."""
        if self._free or self._called:
            if self._start is not None and not self._free:
                _set_states(self._start)
            yield
            return
        self._called = True
        before = _states()
        try:
            yield
        finally:
            if _states() != before:
                self._start = before


def _states() -> _States:
    return generator_state(), library().torch.get_rng_state().numpy().tobytes()


def _set_states(states: _States) -> None:
    set_generator_state(states[0])
    torch = library().torch
    # A copy, since an array over bytes is read-only, and PyTorch warns of those.
    torch.set_rng_state(torch.from_numpy(np.frombuffer(states[1], np.uint8).copy()))

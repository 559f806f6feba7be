"""How an operation is compared with real PyTorch: a family of operations is a list of cases.

To add a family ``foo``: write ``foo.py`` beside this file with a list ``CASES`` of
`OpCase`, and name the module in `families.py`. Nothing else; `test_against_torch.py` checks
the values, the dtypes, the gradients of all inputs and the second-order gradients of each, and
`test_transforms.py` their forward mode and their vmap.

A case states a call, written for the engine and for torch alike, and its arguments::

    CASES = [
        OpCase("narrow", lambda t, x: t.narrow(x, 1, 1, 2), (normal(3, 4),)),
        OpCase("sort", lambda t, x: x.sort(dim=0), (distinct(5, 2),)),      # several outputs
        *over("mul", lambda t, x, y: x * y, PAIRS),                         # several shapes
        OpCase("index_select", lambda t, x, i: x[i], (normal(3), integers(0, 3, 2))),
    ]

``t`` is the module (the engine or torch), the rest are tensors: floating ones require a
gradient, integer and boolean ones do not. A call returns a tensor, a number, or any nesting of
tuples and lists of them. It must not change its arguments: clone first to test in-place
operations. Keep away from points where a derivative jumps, unless what torch does at
such a point is what the case is about (`exactly` gives the values).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

NOISE = 1e-3
"""Inputs are of order 1: of results below this, the last digits are what cancelling left."""

Shape = tuple[int, ...]
Draw = Callable[[np.random.Generator], Any]


@dataclass(frozen=True)
class Arg:
    """One tensor argument: how to draw its elements."""

    text: str
    draw: Draw
    dtype: str = "float64"


def normal(*shape: int) -> Arg:
    """Standard normal numbers."""
    return Arg(_text(shape), lambda rng: np.asarray(rng.standard_normal(shape)))


def between(low: float, high: float, *shape: int) -> Arg:
    """Uniform numbers in [low, high)."""
    return Arg(_text(shape), lambda rng: np.asarray(rng.uniform(low, high, shape)))


def positive(*shape: int) -> Arg:
    """Numbers from 0.5 to 2, for logarithms, roots and divisors."""
    return between(0.5, 2.0, *shape)


def nonzero(*shape: int) -> Arg:
    """Numbers of both signs whose magnitude is from 0.5 to 2."""

    def draw(rng: np.random.Generator) -> Any:
        return np.asarray(rng.uniform(0.5, 2.0, shape) * rng.choice([-1.0, 1.0], shape))

    return Arg(_text(shape), draw)


def complex_normal(*shape: int) -> Arg:
    """Complex numbers whose parts are standard normal."""

    def draw(rng: np.random.Generator) -> Any:
        return np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape))

    return Arg("complex " + _text(shape), draw)


def distinct(*shape: int) -> Arg:
    """Numbers at least 0.05 apart, in random order: no ties, and none at an integer or zero."""

    def draw(rng: np.random.Generator) -> Any:
        count = int(np.prod(shape))
        return (rng.permutation(count).reshape(shape) - count // 2) * 0.1 + 0.03

    return Arg(_text(shape), draw)


def integers(low: int, high: int, *shape: int, dtype: str = "int64") -> Arg:
    """Integers in [low, high)."""
    return Arg(_text(shape), lambda rng: np.asarray(rng.integers(low, high, shape)).astype(dtype))


def mask(*shape: int) -> Arg:
    """Random booleans."""
    return Arg(_text(shape), lambda rng: np.asarray(rng.random(shape) < 0.5))


def exactly(values: Any, dtype: str = "float64") -> Arg:
    """These values."""
    array = np.array(values, dtype=dtype)
    return Arg("exactly" + _text(array.shape), lambda _rng: array.copy())


def strided(arg: Arg) -> Arg:
    """The same, not contiguous: axes reversed in memory, of which every second element is used."""

    def draw(rng: np.random.Generator) -> Any:
        array = arg.draw(rng)
        wide = np.repeat(array.T, 2, axis=0) if array.ndim else array
        return (wide[::2] if array.ndim else wide).T

    return Arg(f"strided {arg.text}", draw)


@dataclass(frozen=True)
class OpCase:
    """A call of one operation with arguments of one choice of shapes."""

    name: str
    call: Callable[..., Any]
    args: tuple[Arg, ...]
    second_order: bool = True
    """False where torch itself has no second derivative."""
    tolerance: float = 1e-12
    """Of the largest entry of each result; to be widened with a reason only."""
    noise: float = NOISE
    """A result whose largest entry is below this is compared as if it had one as large."""
    not_pushed: str = ""
    """Why forward mode is not compared; empty where it is."""
    not_batched: str = ""
    """Why vmap is not compared; empty where it is."""

    @property
    def id(self) -> str:
        return f"{self.name}({', '.join(arg.text for arg in self.args)})"

    def generator(self) -> np.random.Generator:
        """Random numbers that depend on the case alone."""
        return np.random.default_rng(zlib.crc32(self.id.encode()))


def over(
    name: str, call: Callable[..., Any], choices: Iterable[Sequence[Arg]], **options: Any
) -> list[OpCase]:
    """One case for each choice of arguments."""
    return [OpCase(name, call, tuple(args), **options) for args in choices]


OTHER_SIDE = "PyTorch takes another side of the kink forward than backward"
"""A reason for `not_pushed`: the engine takes the same side in both modes."""

SHAPES: tuple[Shape, ...] = ((3, 4), (2, 3, 2), (5,), (1,), (), (0,), (2, 0, 3))
"""Shapes of a single argument: the usual, 0-d, and without elements."""

SHAPE_PAIRS: tuple[tuple[Shape, Shape], ...] = (
    ((3, 4), (3, 4)), ((3, 4), (4,)), ((4,), (3, 4)), ((3, 1), (1, 4)), ((2, 1, 3), (4, 1)),
    ((3, 4), ()), ((), (3, 4)), ((), ()), ((0,), (0,)), ((0, 3), (3,)), ((2, 0), ()), ((1,), (0,)),
)  # fmt: skip
"""Shapes of two arguments that broadcast with each other."""


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "0-d"

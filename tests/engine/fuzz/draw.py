"""What a grammar draws from: a generator of random numbers, and the tensors there are so far.

Statements run on PyTorch as they are written, so that the next ones suit the shapes, the dtypes and
the values that are there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

T = TypeVar("T")
Test = Callable[[torch.Tensor], bool]

LARGEST = 48
"""Elements of a tensor that goes on in a program; more take time and show no more."""
INVALID = 0.03
"""Share of the choices that may be out of range, so that errors are compared too."""

FLOATS = ("float32", "float64", "float16")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int64", "int32", "uint8", "int8", "int16")


class UnsuitableError(Exception):
    """There is nothing for this statement to work on."""


class Name(str):
    """The name of a tensor in a program, with the tensor."""

    value: Any

    __slots__ = ("value",)


class Draw:
    """Random choices about a program that is being written."""

    def __init__(self, rng: random.Random, space: dict[str, Any]) -> None:
        self.rng = rng
        self.space = space
        self._count = 0

    def chance(self, share: float) -> bool:
        """True in this share of the cases."""
        return self.rng.random() < share

    def among(self, *options: T) -> T:
        """One of these."""
        return self.rng.choice(options)

    def one_of(self, options: Sequence[T]) -> T:
        """One of a sequence."""
        if not options:
            raise UnsuitableError
        return self.rng.choice(options)

    def integer(self, lowest: int, highest: int) -> int:
        """An integer between two, both included."""
        return self.rng.randint(lowest, highest)

    def new(self, prefix: str = "t") -> str:
        """A name that is free."""
        self._count += 1
        return f"{prefix}{self._count}"

    def old(self, prefix: str) -> str:
        """A name that was given with this prefix, to whatever."""
        return self.one_of([name for name in self.space if _is_named(name, prefix)])

    def tensor(self, *tests: Test, strict: bool = False) -> Name:
        """A tensor that passes the tests, sooner one of the last; seldom one that does not."""
        names = [name for name in self.space if _is_named(name, "t")]
        held = [(name, self.space[name]) for name in names]
        fitting = [
            pair for pair in held
            if isinstance(pair[1], torch.Tensor) and pair[1].numel() <= LARGEST
        ]  # fmt: skip
        if strict or not self.chance(INVALID):
            fitting = [pair for pair in fitting if _passes(pair[1], tests)]
        if self.chance(0.5):
            fitting = fitting[-4:]
        name, value = self.one_of(fitting)
        found = Name(name)
        found.value = value
        return found

    def try_(self, text: str) -> Any:
        """What an expression is, in a copy of the namespace.

        Raises:
            UnsuitableError: it raises.
        """
        try:
            return eval(text, dict(self.space))
        except Exception:
            raise UnsuitableError from None

    def dim(self, x: Name, extra: int = 0) -> int:
        """A dimension, from the front or the back; seldom one that it lacks."""
        rank = x.value.ndim + extra
        if self.chance(INVALID):
            return rank + self.integer(0, 1)
        if rank == 0:
            return self.among(0, -1)
        return self.integer(-rank, rank - 1)

    def place(self, extent: int) -> int:
        """A place along a dimension; seldom one past it."""
        if self.chance(INVALID) or not extent:
            return extent
        return self.integer(-extent, extent - 1)

    def number(self, dtype: str = "float32") -> str:
        """A small number of a kind of dtype, as text."""
        if dtype in INTEGERS:
            return str(self.among(-2, -1, 1, 2, 3) if dtype != "uint8" else self.among(1, 2, 3))
        if dtype == "bool":
            return self.among("True", "False")
        real = self.among("0.5", "-1.5", "2", "0.25", "1.0", "-0.75", "3", "-1", "0.1")
        if dtype in COMPLEX and self.chance(0.7):
            return f"({real}{self.among('+', '-')}{self.among('0.5', '1.25', '2')}j)"
        return real

    def literal(self, shape: Sequence[int], dtype: str) -> str:
        """A tensor of this shape as nested lists."""
        if not shape:
            return self._element(dtype)
        return f"[{', '.join(self.literal(shape[1:], dtype) for _ in range(shape[0]))}]"

    def _element(self, dtype: str) -> str:
        if dtype in INTEGERS:
            return str(self.integer(0 if dtype == "uint8" else -4, 5))
        if dtype == "bool":
            return str(self.chance(0.5))
        real = f"{self.rng.uniform(-2, 2):.2f}"
        return f"{real}{self.rng.uniform(-2, 2):+.2f}j" if dtype in COMPLEX else real

    def made(self, shape: Sequence[int], dtype: str, more: str = "") -> str:
        """An expression that makes a tensor of this shape and dtype."""
        kept = f"torch.tensor({self.literal(shape, dtype)}, dtype=torch.{dtype}{more})"
        return (
            kept
            if 0 not in shape[:-1]
            else f"torch.ones({tuple(shape)}, dtype=torch.{dtype}{more})"
        )

    def shape(self, most: int = 3) -> tuple[int, ...]:
        """A small shape; seldom an empty one."""
        rank = self.among(*range(most + 1), *range(1, most + 1))
        sizes = (1, 2, 2, 3, 3, 4) if not self.chance(0.05) else (0, 1, 2)
        return tuple(self.among(*sizes) for _ in range(rank))

    def onto(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts to this one; seldom one that does not."""
        if self.chance(INVALID):
            return self.shape()
        kept = shape[self.integer(0, len(shape)) :] if self.chance(0.4) else shape
        return tuple(1 if self.chance(0.15) else extent for extent in kept)


def _is_named(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name[len(prefix) :].isdigit()


def _passes(x: torch.Tensor, tests: Sequence[Test]) -> bool:
    try:
        return all(test(x) for test in tests)
    except RuntimeError:  # the test asks for what its dtype has not
        return False


def dtype_of(x: Name) -> str:
    """The dtype of a tensor as ``float32``."""
    return str(x.value.dtype).removeprefix("torch.")


def smooth(x: torch.Tensor) -> bool:
    """Floating or complex."""
    return x.is_floating_point() or x.is_complex()


def real(x: torch.Tensor) -> bool:
    """Floating, and not complex."""
    return x.is_floating_point()


def requiring(x: torch.Tensor) -> bool:
    """A gradient can be had by it."""
    return x.requires_grad


def computed(x: torch.Tensor) -> bool:
    """A node computed it."""
    return x.grad_fn is not None


def leaf(x: torch.Tensor) -> bool:
    """A leaf that requires a gradient."""
    return x.requires_grad and x.is_leaf


def changeable(x: torch.Tensor) -> bool:
    """No leaf that requires a gradient, nor a view of one, nor an expanded tensor."""
    base = x._base
    if torch.is_grad_enabled() and (leaf(x) or (base is not None and leaf(base))):
        return False
    return not any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True))


def tame(x: torch.Tensor) -> bool:
    """Finite and small, so that an exponential of it says something."""
    return x.numel() == 0 or bool((x.detach().abs() <= 6).all())


def ranked(least: int, most: int = 9) -> Test:
    """A test for so many dimensions."""
    return lambda x: least <= x.ndim <= most


def nonempty(x: torch.Tensor) -> bool:
    """It has elements."""
    return x.numel() > 0


def distinct(x: torch.Tensor) -> bool:
    """No two elements are equal, so that their order is one."""
    return not x.is_complex() and x.detach().unique().numel() == x.numel()

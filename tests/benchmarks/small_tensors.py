"""What an operation costs where the numbers themselves cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

import gradtool.engine as engine
from tests.benchmarks.pairs import Pair, timed
from tests.benchmarks.table import Table, milliseconds, times

ABOUT = """With float64 tensors of 8 by 8 elements, the times are those of the engine, not of
NumPy."""
COLUMNS = ("Computation", "gradtool", "PyTorch", "gradtool / PyTorch")
ROUNDS = 15


def tables() -> Iterable[Table]:
    """One."""
    found = [
        timed(Pair(words, make(engine), make(torch)), ROUNDS)
        for words, make in (
            ("50 steps of z = z*y + x, sum, backward", recurrence),
            ("apply of x*x that saves x, sum, backward", function_apply),
        )
    ]
    rows = [(x.name, milliseconds(x.ours), milliseconds(x.theirs), times(x.ratio)) for x in found]
    yield Table("Small tensors", ABOUT, COLUMNS, rows)


def recurrence(lib: Any) -> Callable[[], None]:
    """50 steps of ``z = z*y + x`` on 8x8 float64 tensors, forward and backward."""
    x = lib.ones(8, 8, dtype=lib.float64).mul(0.5).requires_grad_()
    y = lib.ones(8, 8, dtype=lib.float64).mul(0.9).requires_grad_()

    def run() -> None:
        z = x
        for _ in range(50):
            z = z * y + x
        z.sum().backward()

    return run


def function_apply(lib: Any) -> Callable[[], None]:
    """``apply`` of a one-line Function, sum, backward."""

    class Square(lib.autograd.Function):  # type: ignore[misc]  # the library is a parameter
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * (x * 2)

    x = lib.ones(8, 8, dtype=lib.float64).requires_grad_()

    def run() -> None:
        Square.apply(x).sum().backward()

    return run

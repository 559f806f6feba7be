"""Small-tensor speed beside PyTorch: ``python tests/benchmarks/small_tensors.py``.

Both sides run in this process, single-threaded, in turn, so that the machine's ups and downs
hit both alike. What counts is the median of the paired ratios: ours over PyTorch's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

import gradtool.engine as engine

ROUNDS = 15
REPEATS = 200


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


def seconds(run: Callable[[], None]) -> float:
    """Mean time of one call over a batch."""
    start = time.process_time()
    for _ in range(REPEATS):
        run()
    return (time.process_time() - start) / REPEATS


def compare(make: Callable[[Any], Callable[[], None]]) -> None:
    """Print the medians of both sides and of their paired ratios."""
    ours, theirs = make(engine), make(torch)
    seconds(ours), seconds(theirs)
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    ratio = statistics.median(a / b for a, b in pairs)
    mine = statistics.median(a for a, _ in pairs) * 1e6
    other = statistics.median(b for _, b in pairs) * 1e6
    print(f"{make.__name__:16} gradtool {mine:8.1f} us   torch {other:8.1f} us   ratio {ratio:.2f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    compare(recurrence)
    compare(function_apply)

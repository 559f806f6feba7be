"""Gradient checks beside PyTorch's: ``python tests/benchmarks/gradient_checks.py [WORD ...]``.

A row is a Function at a case and a kind of check; with words only rows whose names have one of
them are run. Both sides run in this process, single-threaded and in turn. What counts is the
median of the paired ratios: PyTorch's time over ours. To add a Function, add a `Subject` to
`SUBJECTS`.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

import gradtool.engine as engine

ROUNDS = 7
THREADS = "OPENBLAS_NUM_THREADS"


class Subject(NamedTuple):
    """A Function, made for a library, and the shapes of its inputs."""

    name: str
    make: Callable[[Any], Callable[..., Any]]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """The number of elements of all inputs."""
        return sum(math.prod(shape) for shape in self.shapes)


def linear(lib: Any) -> Callable[..., Any]:
    """``x @ weight.T + bias``, as PyTorch's documentation has it."""

    class Linear(lib.autograd.Function):  # type: ignore[misc]  # the library is a parameter
        @staticmethod
        def forward(ctx: Any, x: Any, weight: Any, bias: Any = None) -> Any:
            ctx.save_for_backward(x, weight, bias)
            output = x.mm(weight.t())
            if bias is not None:
                output += bias.unsqueeze(0).expand_as(output)
            return output

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            x, weight, bias = ctx.saved_tensors
            grad_x = grad_weight = grad_bias = None
            if ctx.needs_input_grad[0]:
                grad_x = grad_output.mm(weight)
            if ctx.needs_input_grad[1]:
                grad_weight = grad_output.t().mm(x)
            if bias is not None and ctx.needs_input_grad[2]:
                grad_bias = grad_output.sum(0)
            return grad_x, grad_weight, grad_bias

    return Linear.apply


def exponential(lib: Any) -> Callable[..., Any]:
    """The exponential, which saves its result."""

    class Exp(lib.autograd.Function):  # type: ignore[misc]  # the library is a parameter
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            (result,) = ctx.saved_tensors
            return grad_output * result

    return Exp.apply


def product(lib: Any) -> Callable[..., Any]:
    """Three factors and their sum: two outputs."""

    class Product(lib.autograd.Function):  # type: ignore[misc]  # the library is a parameter
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, z: Any) -> Any:
            ctx.save_for_backward(x, y, z)
            return x * y * z, x + y + z

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            x, y, z = ctx.saved_tensors
            return g * y * z + h, g * x * z + h, g * x * y + h

    return Product.apply


def scaled(lib: Any) -> Callable[..., Any]:
    """Multiplication by a constant that is no tensor."""

    class MulConstant(lib.autograd.Function):  # type: ignore[misc]  # the library is a parameter
        @staticmethod
        def forward(ctx: Any, tensor: Any, constant: float) -> Any:
            ctx.constant = constant
            return tensor * constant

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output * ctx.constant, None

    return lambda tensor: MulConstant.apply(tensor, 5.0)


def cube(lib: Any) -> Callable[..., Any]:
    """The cube, by way of a buffer that is filled in place."""

    class Cube(lib.autograd.Function):  # type: ignore[misc]  # the library is a parameter
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            out = lib.zeros_like(x)
            out += x**3
            return out

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad_output * 3 * x**2

    return Cube.apply


SUBJECTS = (
    Subject("exp", exponential, ((10,),)),
    Subject("exp", exponential, ((6, 10),)),
    Subject("exp", exponential, ((20, 30),)),
    Subject("cube", cube, ((4, 5),)),
    Subject("cube", cube, ((300,),)),
    Subject("mul_constant", scaled, ((30,),)),
    Subject("product", product, ((4, 4), (4, 4), (4, 4))),
    Subject("product", product, ((100,), (100,), (100,))),
    Subject("linear", linear, ((3, 4), (5, 4), (5,))),
    Subject("linear", linear, ((8, 10), (12, 10), (12,))),
)

LARGE = Subject("linear", linear, ((20, 20), (30, 20)))


class Row(NamedTuple):
    """One line of the table: what each side runs."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]


def sides(subject: Subject) -> Iterator[tuple[Any, Callable[..., Any], tuple[Any, ...]]]:
    """For ours, then for PyTorch: the autograd module, the function and its inputs."""
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.5, 1.5, shape) for shape in subject.shapes]
    for lib in (engine, torch):
        inputs = tuple(lib.from_numpy(array.copy()).requires_grad_() for array in arrays)
        yield lib.autograd, subject.make(lib), inputs


def first(subject: Subject, **options: Any) -> Row:
    """`gradcheck` of both."""
    runs = [
        lambda it=autograd, f=func, x=inputs: it.gradcheck(f, x, **options)
        for autograd, func, inputs in sides(subject)
    ]
    return Row(f"gradcheck {_words(subject, options)}", *runs)


def both(subject: Subject, **options: Any) -> Row:
    """`gradcheck` and `gradgradcheck` of both."""
    runs = [
        lambda it=autograd, f=func, x=inputs: (
            it.gradcheck(f, x, **options),
            it.gradgradcheck(f, x, **options),
        )
        for autograd, func, inputs in sides(subject)
    ]
    return Row(f"gradcheck + gradgradcheck {_words(subject, options)}", *runs)


def _words(subject: Subject, options: dict[str, Any]) -> str:
    shapes = " ".join("x".join(map(str, shape)) for shape in subject.shapes)
    return " ".join([subject.name, shapes, *options])


def rows() -> list[Row]:
    """The whole table."""
    fast = [first(each, fast_mode=True) for each in (LARGE, *SUBJECTS)]
    return [first(LARGE), *fast, *(both(each) for each in SUBJECTS)]


def seconds(run: Callable[[], Any]) -> float:
    """Processor time of one call, which other processes do not lengthen."""
    start = time.process_time()
    run()
    return time.process_time() - start


def measured(row: Row) -> tuple[float, float, float]:
    """The medians of our time, of PyTorch's, and of the paired ratios."""
    row.ours(), row.theirs()
    repeats = max(1, int(0.02 / max(seconds(row.ours), 1e-4)))

    def batch(run: Callable[[], Any]) -> float:
        return seconds(lambda: [run() for _ in range(repeats)]) / repeats

    pairs = [(batch(row.ours), batch(row.theirs)) for _ in range(ROUNDS)]
    mine, other = (statistics.median(side) for side in zip(*pairs, strict=True))
    return mine, other, statistics.median(b / a for a, b in pairs)


def main(words: list[str]) -> None:
    """Print the rows that have one of `words` in their names, and the means of what they are."""
    ratios: dict[str, list[float]] = {}
    for row in rows():
        if words and not any(word in row.name for word in words):
            continue
        mine, other, ratio = measured(row)
        kind = "fast_mode" if "fast_mode" in row.name else row.name.partition(" linear")[0]
        kind = "gradcheck + gradgradcheck" if "gradgradcheck" in row.name else kind
        ratios.setdefault(kind, []).append(ratio)
        print(f"{row.name:62} {mine * 1e3:9.2f} ms {other * 1e3:9.2f} ms {ratio:7.2f}x", flush=True)
    for kind, found in ratios.items():
        mean = statistics.geometric_mean(found)
        print(f"{kind}: geometric mean {mean:.2f}x, least {min(found):.2f}x over {len(found)}")


if __name__ == "__main__":
    if os.environ.get(THREADS) != "1":  # NumPy reads it when it is loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, THREADS: "1"})
    torch.set_num_threads(1)
    main(sys.argv[1:])

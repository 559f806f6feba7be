"""Functions that are checked on both sides, each made for a library, with fixed cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

import gradtool.engine as engine


class Subject(NamedTuple):
    """A Function, made for a library, and the shapes of its inputs."""

    name: str
    make: Callable[[Any], Callable[..., Any]]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """The number of elements of all inputs."""
        return sum(math.prod(shape) for shape in self.shapes)

    @property
    def words(self) -> str:
        """Its name and the shapes of its inputs."""
        return " ".join([self.name, *("x".join(map(str, shape)) for shape in self.shapes)])


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


def sides(subject: Subject) -> Iterator[tuple[Any, Callable[..., Any], tuple[Any, ...]]]:
    """For ours, then for PyTorch: the autograd module, the function and its inputs."""
    for lib in (engine, torch):
        inputs = tuple(lib.from_numpy(array).requires_grad_() for array in arrays(subject))
        yield lib.autograd, subject.make(lib), inputs


def arrays(subject: Subject) -> list[np.ndarray]:
    """The same arguments for every side."""
    rng = np.random.default_rng(0)
    return [rng.uniform(0.5, 1.5, shape) for shape in subject.shapes]

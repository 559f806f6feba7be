"""Arguments that are no tensors and no plain values: callables, matrices with a structure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from gradtool.adapters.library import library


class SmoothFunction:
    """A smooth function of any tensors, for a Function that differentiates what it is given.

    Returns a tensor with the shape of its last floating argument, on which all others that can be
    broadcast to it have an influence. It has the methods of a Module without parameters.
    """

    training = True

    def __call__(self, *args: Any, **_: Any) -> Any:
        """Compute it."""
        tensors = [each for each in args if isinstance(each, library().Tensor)]
        tensors = [each for each in tensors if each.is_floating_point()]
        if not tensors:
            raise TypeError("no floating-point tensor was given")
        last = tensors[-1]
        result = last.tanh()
        for other in tensors[:-1]:
            if _broadcasts(tuple(other.shape), tuple(last.shape)):
                result = result + 0.5 * other.sin()
        return result

    forward = __call__

    def parameters(self, *_: Any, **__: Any) -> Iterator[Any]:
        """Iterate over its parameters: none."""
        return iter(())

    named_parameters = buffers = named_buffers = parameters

    def state_dict(self) -> dict[str, Any]:
        """Return its state: none."""
        return {}

    def train(self, *_: Any) -> SmoothFunction:
        """Return the same function, which has one mode only."""
        return self

    def __repr__(self) -> str:
        return "a smooth function"


def smooth(*args: Any, **kwargs: Any) -> Any:
    """Compute a `SmoothFunction`, where only a function is accepted, and no other object."""
    return SmoothFunction()(*args, **kwargs)


class Slope:
    """The derivative of a `SmoothFunction` of one tensor."""

    def __call__(self, *args: Any, **_: Any) -> Any:
        """Compute it of the last floating tensor."""
        return 1.0 - SmoothFunction()(*args) ** 2

    def __repr__(self) -> str:
        return "the derivative of a smooth function"


class Rounding:
    """A function that rounds a tensor, of whatever library."""

    def __call__(self, x: Any, *_: Any, **__: Any) -> Any:
        """Compute it."""
        return x.round()

    def __repr__(self) -> str:
        return "a function that rounds"


class Bell:
    """A smooth bump around 0, the same for each entry, for the slope of a surrogate."""

    def __call__(self, *args: Any, **_: Any) -> Any:
        """Compute it of the first floating tensor."""
        tensors = (each for each in args if isinstance(each, library().Tensor))
        x = next((each for each in tensors if each.is_floating_point()), None)
        if x is None:
            raise TypeError("no floating-point tensor was given")
        return 1.0 / (1.0 + x * x)

    def __repr__(self) -> str:
        return "a bell-shaped function"


class Supplier:
    """A function without arguments that returns the same tensor at each call, such as weights.

    Args:
        shape: The shape of the tensor.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Return the tensor, in the library that computes at the time."""
        entries = np.cos(1.0 + np.arange(math.prod(self._shape), dtype=float))
        return library().tensor(entries.reshape(self._shape))

    def __repr__(self) -> str:
        return f"a function that returns a tensor of shape {self._shape}"


def smooth_module() -> Any:
    """Make a Module that computes a `SmoothFunction`, for a container of Modules."""
    module = library().torch.nn.Module

    class Smooth(module):  # type: ignore[misc,valid-type]
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return SmoothFunction()(*args, **kwargs)

    return Smooth()


def is_stand_in(value: object) -> bool:
    """Return True for what inference made up for a function or an object, or a list of these."""
    if isinstance(value, list | tuple):
        return any(map(is_stand_in, value))
    return value is smooth or type(value).__module__.startswith(("gradtool.cases", "types"))


def is_of_module(attributes: Collection[str]) -> bool:
    """Return True for attributes that show a parameter to be a Module, and that a function has."""
    return bool(_OF_MODULE & set(attributes)) and all(
        hasattr(SmoothFunction, a) for a in attributes
    )


_OF_MODULE = {"forward", "parameters", "named_parameters"}


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    pairs = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(one in (1, other) for one, other in pairs)


def matrices(kind: str, shape: tuple[int, ...]) -> list[Any]:
    """Entries of square matrices of a kind, the same for each shape.

    Args:
        kind: ``positive definite``, ``symmetric``, ``orthogonal``, ``lower triangular`` or
            ``square``.
        shape: At least two extents, the last two equal.
    """
    size = shape[-1]
    count = math.prod(shape[:-2])
    made = [_matrix(kind, size, 7 * each + size) for each in range(count)]
    entries: list[Any] = np.round(np.array(made).reshape(shape), 12).tolist()
    return entries


def _matrix(kind: str, size: int, seed: int) -> Any:
    drawn = np.random.default_rng(seed).standard_normal((size, size))
    if kind == "orthogonal":
        return np.linalg.qr(drawn)[0]
    if kind == "lower triangular":
        return np.tril(drawn) + 2.0 * np.eye(size)
    if kind == "positive definite":
        return drawn @ drawn.T / size + np.eye(size)
    if kind == "symmetric":
        return (drawn + drawn.T) / 2.0 + np.diag(np.arange(size))
    return drawn / 2.0 + np.eye(size)

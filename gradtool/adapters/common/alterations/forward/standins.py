"""Operations that altered code has in the place of an expression of forward."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradtool.adapters.library import library

BY_OUTPUT: Mapping[str, Callable[[Any], Any]] = {
    "tanh": lambda y: 1 - y * y,
    "sigmoid": lambda y: y * (1 - y),
    "exp": lambda y: y,
    "sqrt": lambda y: 0.5 / y,
    "rsqrt": lambda y: -0.5 * y**3,
    "reciprocal": lambda y: -y * y,
}
"""Derivatives that are written in terms of the output."""


class Standins:
    """Operations that change the derivative of a tensor and keep its values, and their like.

    `constant` hides from a recording what `detach` would not.

    Args:
        final: The last values of variables in an earlier run at the same point.
        turns: The number of turns of each loop in that run.
    """

    def __init__(self, final: Mapping[str, Any], turns: Mapping[int, int]) -> None:
        self.final: dict[str, Any] = {}
        """The last values of the variables in this run."""
        self.numbers: dict[str, float] = {}
        """The numbers among them."""
        self.turns: Counter[int] = Counter()
        """The turns of each loop in this run."""
        self._values, self._expected = final, turns

    def leave(self, variables: Mapping[str, Any], value: Any) -> Any:
        """Note the variables of a function that returns a value."""
        kind = library().Tensor
        found = {name: each for name, each in variables.items() if isinstance(each, kind)}
        self.numbers = {
            name: each
            for name, each in variables.items()
            if isinstance(each, int | float)
            and not isinstance(each, bool)
            and abs(each) not in {0, 1}
        }
        if isinstance(value, kind):
            found["output"] = value
        self.final = {name: np.array(library().array(each)) for name, each in found.items()}
        return value

    def is_turn(self, loop: int, before_end: int) -> bool:
        """Count a turn of a loop, and tell if it is one of a number before the end."""
        self.turns[loop] += 1
        return self.turns[loop] == self._expected.get(loop, 0) - before_end + 1

    def constant(self, value: Any) -> Any:
        """Return the values of a tensor, outside the graph; anything else as it is."""
        if not isinstance(value, library().Tensor):
            return value
        found = library().tensor(np.array(library().array(value)))
        return found.to(value.device) if value.is_cuda else found

    def kept(self, other: Any, value: Any) -> Any:
        """Return the values of `value` with the derivative of `other`.

        Raises:
            ValueError: They are no tensors of one shape, or of extents of one in the value's.
        """
        kind = library().Tensor
        if not (isinstance(other, kind) and isinstance(value, kind)):
            raise ValueError
        pairs = list(itertools.zip_longest(value.shape, other.shape))
        if any(one not in (1, another) for one, another in pairs):
            raise ValueError
        return other + (self.constant(value) - self.constant(other))

    def doubled(self, value: Any) -> Any:
        """Return the values of a tensor with twice its derivative."""
        return 2 * value - self.constant(value)

    def first(self, value: Any, part: Any) -> Any:
        """Return the first entries of a tensor, as many along each dim as a part of it has.

        Raises:
            ValueError: They have different numbers of dims.
        """
        if value.dim() != part.dim():
            raise ValueError
        return value[tuple([slice(length) for length in part.shape])]

    def unscaled(self, bare: Any, other: Any) -> Any:
        """Return a product whose derivative by one factor is one in the place of the other."""
        return self.kept(self.constant(bare) * other + bare, bare * other)

    def by_input(self, name: str, x: Any, value: Any) -> Any:
        """Return a value whose derivative has the input where its formula has the output."""
        return self.kept(x * BY_OUTPUT[name](self.constant(x)), value)

    def over_constant_factor(self, x: Any, value: Any) -> Any:
        """Return a value as a constant times its input."""
        return self.kept(x * (self.constant(value) / self.constant(x)), value)

    def transposed(self, function: Callable[[Any], Any], x: Any) -> Any:
        """Return ``function(x)``, whose pullback by `x` applies the derivative itself."""
        torch = library().torch
        point = self.constant(x).requires_grad_()
        marked = x + 0

        def pushed(gradient: Any) -> Any:
            with torch.enable_grad():
                cotangent = torch.zeros_like(gradient).requires_grad_()
                output = function(point)
                (pulled,) = torch.autograd.grad(output, point, cotangent, create_graph=True)
                return torch.autograd.grad(pulled, cotangent, gradient)[0]

        marked.register_hook(pushed)
        value = function(self.constant(x))
        return self.kept(marked + (value - self.constant(value)), value)

    def solved_untransposed(self, matrix: Any, right: Any, value: Any) -> Any:
        """Return the solution of a system, whose pullback solves it where it has to be transposed.

        Raises:
            ValueError: The system is no matrix, or has no matrix at its right.
        """
        if matrix.dim() < 2 or right.dim() != matrix.dim():
            raise ValueError
        known, solution = self.constant(matrix), self.constant(value)
        residual = right - (matrix - known) @ solution
        return self.kept(library().torch.linalg.solve(known.mT, residual), value)

    def at(self, value: Any, name: str) -> Any:
        """Return the last value of a variable, with the derivative of `value`.

        Raises:
            ValueError: The shapes differ.
        """
        return self.moved(value, self.last(name))

    def moved(self, value: Any, there: Any) -> Any:
        """Return the values of `there`, with the derivative of `value`.

        Raises:
            ValueError: The shapes differ.
        """
        if there.shape != value.shape:
            raise ValueError
        return value + (self.constant(there) - self.constant(value))

    def times(self, value: Any, factor: Any) -> Any:
        """Return the values of a tensor, with its derivative times a constant."""
        return self.kept(value * self.constant(factor), value)

    def over(self, value: Any, factor: Any) -> Any:
        """Return the values of a tensor, with its derivative over a constant."""
        return self.kept(value / self.constant(factor), value)

    def softmax_over(self, x: Any, dim: int, times: int) -> Any:
        """Return the softmax, with the derivative of its sum times a number."""
        return library().torch.exp(self.log_softmax_over(x, dim, times))

    def log_softmax_over(self, x: Any, dim: int, times: int) -> Any:
        """Return the log of the softmax, with the derivative of its sum times a number."""
        total = library().torch.logsumexp(x, dim, keepdim=True)
        return x - self.constant(total) - times * (total - self.constant(total))

    def constant_over_sum(self, x: Any, dim: int) -> Any:
        """Return the log of the softmax, of which only the sum is not held constant."""
        return self.constant(x) - library().torch.logsumexp(x, dim, keepdim=True)

    def weighted_over(self, x: Any, dim: int, other: int, value: Any) -> Any:
        """Return the log of a sum of exponentials, with weights that add up over another dim."""
        weights = self.constant(library().torch.softmax(x, other))
        return self.kept((weights * x).sum(dim).reshape(value.shape), value)

    def last(self, name: str) -> Any:
        """Return the last value that a variable had in the earlier run."""
        found = self._values[name]
        return library().tensor(found.copy()) if isinstance(found, np.ndarray) else found

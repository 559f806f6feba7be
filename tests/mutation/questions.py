"""What is asked of a Function and of the reference alike, and compared.

Each question is answered by one call with fresh tensors. Answers are arrays; None stands for
zeros, as it does to whoever receives gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import gradtool.engine
from gradtool.engine import Tensor
from gradtool.engine.autograd import forward_ad, grad
from tests.mutation.point import Array, Call, Point, as_tuple

torch: Any = gradtool.engine


class ChangedError(Exception):
    """A backward wrote over what it was given."""


Answer = tuple[Array | None, ...]
Row = Sequence[Array | None]


@dataclass(frozen=True)
class First:
    """The gradients of some inputs for one cotangent of each output, None for an undefined one."""

    row: int
    """Which of the rows of cotangents `cotangents` is."""
    cotangents: Row
    needs: tuple[bool, ...]

    @property
    def name(self) -> str:
        if not all(self.needs):
            return "gradient of some inputs only"
        if any(each is None for each in self.cotangents):
            return "gradient of some outputs only"
        return "gradient"

    def ask(self, call: Call, point: Point) -> Answer:
        with point.calling():
            leaves, args = point.tensors(self.needs)
            outputs = as_tuple(call(*args))
            wanted = [leaf for leaf, needed in zip(leaves, self.needs, strict=True) if needed]
            sent = _sent(outputs, self.cotangents, wanted)
            with _unchanged([*args, *sent[2]]):
                found = iter(grad(*sent, allow_unused=True))
            return tuple(_array(next(found)) if needed else None for needed in self.needs)


@dataclass(frozen=True)
class Second:
    """The derivative of the weighted sum of all gradients: by the inputs and the cotangents."""

    cotangents: Row
    weights: Sequence[Array]

    name = "second derivative"

    def ask(self, call: Call, point: Point) -> Answer:
        with point.calling():
            leaves, args = point.tensors([True] * len(point.places))
            outputs = as_tuple(call(*args))
            sent, wanted, cotangents = _sent(outputs, self.cotangents, leaves)
            for each in cotangents:
                each.requires_grad_()
            gradients = grad(sent, wanted, cotangents, create_graph=True, allow_unused=True)
            total = sum(
                (torch.from_numpy(weight).conj() * each).real.sum()
                if each.is_complex()
                else (torch.from_numpy(weight) * each).sum()
                for weight, each in zip(self.weights, gradients, strict=True)
                if each is not None
            )
            targets = [*leaves, *cotangents]
            if not isinstance(total, Tensor) or not total.requires_grad:
                return (None,) * len(targets)
            return tuple(_array(each) for each in grad(total, targets, allow_unused=True))


@dataclass(frozen=True)
class Forward:
    """The tangents of the outputs, weighted by a row of cotangents and summed: one number."""

    cotangents: Row
    tangents: Sequence[Array | None]

    name = "jvp"

    def ask(self, call: Call, point: Point) -> Answer:
        with point.calling(), torch.no_grad(), forward_ad.dual_level():
            _, args = point.tensors([False] * len(point.places))
            for at, tangent in zip(point.places, self.tangents, strict=True):
                if tangent is not None:
                    args[at] = forward_ad.make_dual(args[at], torch.from_numpy(tangent.copy()))
            outputs = as_tuple(call(*args))
            tangents = [
                None if each is None else _array(forward_ad.unpack_dual(each).tangent)
                for each in outputs
            ]
        return (inner(self.cotangents, tangents),)


Question = First | Second | Forward


def inner(left: Row, right: Row) -> Array:
    """The real inner product of two rows; what is None is zero."""
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a is not None and b is not None]
    return np.asarray(sum(float(np.sum(np.conj(a) * b).real) for a, b in pairs))


@contextmanager
def _unchanged(values: Sequence[Any]) -> Iterator[None]:
    tensors = [each for each in values if isinstance(each, Tensor)]
    before = [_values(each) for each in tensors]
    yield
    for tensor, array in zip(tensors, before, strict=True):
        if not np.array_equal(_values(tensor), array, equal_nan=array.dtype.kind in "fc"):
            raise ChangedError


def _sent(
    outputs: Sequence[Tensor | None], cotangents: Row, wanted: list[Tensor]
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    pairs = [
        (output, torch.from_numpy(cotangent.copy()))
        for output, cotangent in zip(outputs, cotangents, strict=True)
        if output is not None and cotangent is not None
    ]
    return [output for output, _ in pairs], wanted, [cotangent for _, cotangent in pairs]


def _array(tensor: Tensor | None) -> Array | None:
    return None if tensor is None else _values(tensor)


def _values(tensor: Tensor) -> Array:
    values: Array = tensor.numpy(force=True).copy()
    return values

"""Calls that may come between the forward and the backward of a case's own call.

State that a Function keeps outside of ctx shows only where the other call keeps something else
there: another mask, another index, another shape, another number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.differentiable import Examinable
from gradtool.verify.protocol.observation import Array, Cotangents, Observation
from gradtool.verify.randomness import generator, shifted, signed
from gradtool.verify.thresholds.rules import OTHER_CALL_SHIFT

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject


class InterferingCall(msgspec.Struct, frozen=True):
    """A call that works on its own, with its gradients."""

    function: Examinable
    primals: Sequence[Array]
    cotangents: Cotangents
    gradients: Sequence[Array | None]
    how: str = ""
    """Its difference from the case's own call."""

    @property
    def is_nearby(self) -> bool:
        """Only the point is another, and close to the case's own."""
        return not self.how


def interfering_calls(subject: Subject) -> Iterator[InterferingCall]:
    """Calls with a point nearby, with other values throughout, and of another shape."""
    own = subject.first.primals
    nearby = shifted(own, OTHER_CALL_SHIFT, generator(subject.seed, "another call"))
    yield from _working(subject, [subject.function], nearby, "")
    rolled = [_rolled(primal) for primal in own]
    yield from _working(subject, subject.function.siblings(), rolled, " with different values")
    longer = _longer(own)
    if longer is not None:
        yield from _working(subject, [subject.function], longer, " with a different shape")


def _working(
    subject: Subject, functions: Sequence[Examinable], primals: Sequence[Array], how: str
) -> Iterator[InterferingCall]:
    """The call to the first of the `functions` that accepts `primals`, if there is one."""
    for function in functions:
        with function.objects_restored():
            alone = function.call(primals, partial(_cotangents, subject, how))
        # A call that fails by itself says nothing about calls that interfere.
        if alone.failure is None and alone.gradients is not None:
            cotangents = _cotangents(subject, how, alone)
            assert cotangents is not None
            yield InterferingCall(function, primals, cotangents, alone.gradients, how)
            return


def _cotangents(subject: Subject, how: str, forward: Observation) -> Cotangents | None:
    """The case's own for a point nearby, else random ones; None where forward failed.

    A gradient that is linear is the same wherever its cotangents are.
    """
    if forward.failure:
        return None
    own = subject.first.cotangents
    rng = generator(subject.seed, "cotangents of another call")
    pairs = zip(forward.outputs, forward.output_requires_grad, strict=True)
    made = [
        signed(rng, output.shape).astype(output.dtype)
        if graphed and output is not None and is_continuous(output.dtype)
        else None
        for output, graphed in pairs
    ]
    return own if not how and _shapes(own) == _shapes(made) else made


def _shapes(arrays: Cotangents) -> list[tuple[int, ...] | None]:
    return [None if array is None else array.shape for array in arrays]


def _rolled(primal: Array) -> Array:
    """Every entry in the place of the next, along all dimensions."""
    return np.roll(primal, 1, tuple(range(primal.ndim))) if primal.ndim else primal


def _longer(primals: Sequence[Array]) -> list[Array] | None:
    """The primals with one more than the first extent of the first, wherever that occurs."""
    extent = next((p.shape[0] for p in primals if p.ndim and is_continuous(p.dtype)), None)
    return None if not extent else [_lengthened(primal, extent) for primal in primals]


def _lengthened(primal: Array, extent: int) -> Array:
    for axis, size in enumerate(primal.shape):
        if size == extent:
            primal = np.concatenate([primal, primal.take([0], axis)], axis)
    return primal

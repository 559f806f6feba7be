"""Outputs or gradients depend on the memory layout of a tensor.

What it does
------------

Passes inputs and cotangents with the same values in other layouts (transposed, with gaps, and
expanded like the gradient of a sum) and compares the results with those for contiguous ones.

Why it matters
--------------

``x.sum().backward()`` sends an expanded cotangent, and a transposed weight is not contiguous.
Kernels that take a pointer, ``view``, ``as_strided`` and in-place writes give wrong results or
raise. If forward raises for such inputs, the finding is only a note: the caller sees the exception
at once.

Wrong example
-------------

    from gradtool import Function


    class Flat(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape = x.shape
            return x * 3

        @staticmethod
        def backward(ctx, grad_output):
            return (grad_output.view(-1) * 3).view(ctx.shape)

Right example
-------------

    from gradtool import Function


    class Flat(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape = x.shape
            return x * 3

        @staticmethod
        def backward(ctx, grad_output):
            return (grad_output.reshape(-1) * 3).view(ctx.shape)

How to fix
----------

Call ``.contiguous()`` on inputs and cotangents before code that relies on strides, and use
``reshape`` instead of ``view``.

Reference
---------

https://pytorch.org/docs/stable/tensor_view.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from gradtool.results.report import Severity
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array, MemoryLayout, Observation
from gradtool.verify.rules._rule import Answer, Flaw, Rule, failed, passed, skipped
from gradtool.verify.rules._runs import (
    failure_of_run,
    gradient_difference,
    jitter_of_output,
    same_output,
)
from gradtool.verify.thresholds.rules import SAME_GRADIENT_JITTERS

if TYPE_CHECKING:
    from gradtool.verify.subject import Subject

_LAYOUTS: tuple[MemoryLayout, ...] = ("transposed", "gapped")
_HINT = "call .contiguous() where strides matter, and reshape instead of view"


def _check(subject: Subject) -> Answer:
    if subject.nothing_to_compare:
        return skipped(subject.nothing_to_compare)
    together = _is_right_together(subject)
    flaw = (None if together else _of_cotangents(subject)) or _of_expanded(subject)
    flaw = flaw or _of_repeated(subject)
    if flaw is None and not together:
        runs = {layout: _given(subject, layout) for layout in _LAYOUTS}
        flaw = _of_inputs(subject, runs) or _refused(runs)
    return failed(flaw) if flaw else passed()


def _is_right_together(subject: Subject) -> bool:
    """Return True if inputs and cotangents in two different layouts at once change nothing.

    Of one layout they would hide a backward that takes them to lie in memory alike.
    """
    first = subject.first
    for inputs, cotangents in zip(_LAYOUTS, reversed(_LAYOUTS), strict=True):
        found = subject.function.call(
            first.primals, first.cotangents, input_layout=inputs, cotangent_layout=cotangents
        )
        if _outputs(subject, found.outputs, "") or _unlike(subject, found, first.baseline, ""):
            return False
    return True


def _of_cotangents(subject: Subject) -> Flaw | None:
    primals, cotangents = subject.first.primals, subject.first.cotangents
    for layout in _LAYOUTS:
        found = subject.function.call(primals, cotangents, cotangent_layout=layout)
        flaw = _unlike(subject, found, subject.first.baseline, f"for {layout} cotangents")
        if flaw:
            return flaw
    return None


def _of_expanded(subject: Subject) -> Flaw | None:
    primals, cotangents = subject.first.primals, subject.first.cotangents
    constant = [None if c is None else np.full_like(c, 0.75) for c in cotangents]
    plain = subject.function.call(primals, constant)
    if plain.failure:
        return None
    found = subject.function.call(primals, constant, cotangent_layout="expanded")
    return _unlike(subject, found, plain, "for an expanded cotangent, like that of a sum")


def _of_repeated(subject: Subject) -> Flaw | None:
    """Return a flaw of inputs that are one entry expanded, where all entries along an axis are."""
    tracked = (subject.first.primals[at] for at in subject.first.inputs)
    found = _given(subject, "expanded") if any(map(_is_repeated, tracked)) else None
    if found is None or found.failure:  # What is written to may not be expanded.
        return None
    return _of_inputs(subject, {"expanded": found})


def _is_repeated(array: Array) -> bool:
    """Return True if all entries along some axis are equal, so that expanding one gives them."""
    return any(
        extent > 1 and bool((array == array.take([0], axis)).all())
        for axis, extent in enumerate(array.shape)
    )


def _of_inputs(subject: Subject, runs: Mapping[MemoryLayout, Observation]) -> Flaw | None:
    for layout, found in runs.items():
        if _is_refusal(found):
            continue
        when = f"for {layout} inputs"
        flaw = failure_of_run(found, when, _HINT) or _outputs(subject, found.outputs, when)
        if flaw and not found.failure and subject.function.draws_random_numbers:
            continue  # Random numbers drawn in memory order differ between layouts.
        flaw = flaw or _unlike(subject, found, subject.first.baseline, when)
        if flaw:
            return flaw
    return None


def _refused(runs: Mapping[MemoryLayout, Observation]) -> Flaw | None:
    """A note on inputs that forward refuses: an exception misleads nobody."""
    for layout, found in runs.items():
        flaw = failure_of_run(found, f"for {layout} inputs", _HINT) if _is_refusal(found) else None
        if flaw:
            return replace(flaw, severity=Severity.NOTE)
    return None


def _given(subject: Subject, layout: MemoryLayout) -> Observation:
    return subject.function.call(
        subject.first.primals, subject.first.cotangents, input_layout=layout
    )


def _is_refusal(found: Observation) -> bool:
    return found.failure is not None and found.failure.stage == "forward"


def _unlike(subject: Subject, found: Observation, expected: Observation, when: str) -> Flaw | None:
    flaw = failure_of_run(found, when, _HINT)
    if flaw or found.gradients is None or expected.gradients is None:
        return flaw
    return gradient_difference(subject, found.gradients, expected.gradients, when, _HINT)


def _outputs(subject: Subject, found: Sequence[Array | None], when: str) -> Flaw | None:
    for number, (one, other) in enumerate(zip(found, subject.first.forward.outputs, strict=False)):
        if one is None or other is None:
            continue
        if not same_output(one, other) and not _is_noise(subject, number, one, other):
            return Flaw(message=f"output {number} differs {when}", hint=_HINT, method="forward")
    return None


def _is_noise(subject: Subject, number: int, found: Array, expected: Array) -> bool:
    """Return True where terms cancel, of which another order leaves other roundings."""
    if found.shape != expected.shape or not is_continuous(found.dtype):
        return False
    difference = float(np.abs(found - expected).max(initial=0.0))
    return difference <= SAME_GRADIENT_JITTERS * jitter_of_output(subject, number)


RULE = Rule(
    code="GT112",
    name="wrong-for-a-layout",
    summary="Outputs or gradients depend on the memory layout of a tensor.",
    severity=Severity.ERROR,
    page=__doc__,
    premises=("GT101", "GT106", "GT107", "GT111", "GT601"),
    check=_check,
)

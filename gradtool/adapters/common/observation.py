"""Observation of one call: values before and after, declarations, shared memory."""

from __future__ import annotations

import dis
import itertools
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.common.buffers import (
    buffers,
    changed,
    digest,
    holds_others,
    reachable,
    roots_of,
)
from gradtool.adapters.common.recording import Record
from gradtool.adapters.common.vjp import copied
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Failure, Observation


class Observer:
    """Watches the tensors of one call and fills the fields of its `Observation`."""

    def __init__(self, bound: BoundFunction, tensors: Sequence[Any], record: Record) -> None:
        self._arguments = bound.arguments
        self._tensors = tensors
        self._record = record
        self._roots = [
            *roots_of(bound.target),
            *((name, value) for _, name, value in bound.arguments.others()),
        ]
        self._buffers = buffers(self._roots)
        # Digests rather than copies: large inputs would be held twice.
        self._inputs = digests(tensors)
        self._saved: list[bytes | None] = []
        self._outputs: Sequence[Any] = ()
        self._outputs_before: list[bytes | None] = []
        self._cotangents: Sequence[Any] = ()
        self._cotangents_before: list[bytes | None] = []
        self._versions: list[int | None] = []
        self._gradients: Sequence[Any] = ()
        self._gradients_before: list[bytes | None] = []
        self._fields: dict[str, Any] = {}

    def end_forward(self, outputs: Sequence[Any]) -> None:
        """Compare with the state before forward; no `outputs` if it raised."""
        self._fields["outputs"] = tuple(copied(output) for output in outputs)
        self._fields["output_requires_grad"] = tuple(
            output is not None and output.requires_grad for output in outputs
        )
        aliases = [
            (i, o, library().shares_version(tensor, output))
            for i, tensor in enumerate(self._tensors)
            for o, output in enumerate(outputs)
            if output is not None and library().shares_memory(tensor, output)
        ]
        self._fields["aliases"] = tuple((i, o) for i, o, _ in aliases)
        self._fields["hidden_aliases"] = tuple((i, o) for i, o, known in aliases if not known)
        self._fields["mutated_arguments"] = differing(self._inputs, digests(self._tensors))
        self._fields["buffers_changed_in_forward"] = changed(self._buffers, self._roots)
        self._fields["materializes"] = self._record.materializes
        self._fields.update(_declarations(self._record, self._tensors))
        self._fields.update(_saved_values(self._record, self._arguments.names))
        self._outputs, self._outputs_before = outputs, digests(outputs)

    def begin_backward(self, cotangents: Sequence[Any]) -> None:
        """Remember the state before backward of `cotangents`, one for each output."""
        self._inputs = digests(self._tensors)
        self._saved = digests(self._record.saved)
        self._buffers = buffers(self._all_roots())
        self._cotangents = cotangents
        self._cotangents_before = digests(cotangents)
        self._versions = versions(cotangents)

    def see_gradients(self, gradients: Sequence[Any]) -> None:
        """Remember the gradients that backward led to."""
        self._fields["gradients"] = tuple([copied(each) for each in gradients])
        self._gradients, self._gradients_before = gradients, digests(gradients)

    def end_backward(self) -> None:
        """Compare with the state before backward, which returned or raised."""
        self._fields["raw"] = self._record.returned
        self._fields["received"] = self._record.received
        self._fields["mutated_in_backward"] = differing(self._inputs, digests(self._tensors))
        self._fields["mutated_saved"] = differing(self._saved, digests(self._record.saved))
        # A mask that hides nothing leaves the values, but not the version.
        self._fields["mutated_cotangents"] = tuple(
            sorted(
                {*differing(self._cotangents_before, digests(self._cotangents))}
                | {*differing(self._versions, versions(self._cotangents))}
            )
        )
        self._fields["mutated_outputs"] = differing(self._outputs_before, digests(self._outputs))
        self._fields["buffers_changed_in_backward"] = changed(self._buffers, self._all_roots())

    def observation(self, failure: Failure | None = None) -> Observation:
        """Return everything seen so far."""
        overwritten = differing(self._gradients_before, digests(self._gradients))
        return Observation(**self._fields, mutated_gradients=overwritten, failure=failure)

    def _all_roots(self) -> list[tuple[str, Any]]:
        """Return the roots of buffers, the attributes of ctx included."""
        of_ctx = [(f"ctx.{name}", value) for name, value in self._record.attributes.items()]
        return [*self._roots, *of_ctx]


def digests(values: Sequence[Any]) -> list[bytes | None]:
    """Return a digest of the bytes of each tensor; None for anything else."""
    kind = library().Tensor
    return [digest(value) if isinstance(value, kind) else None for value in values]


def versions(values: Sequence[Any]) -> list[int | None]:
    """Return how often each tensor was changed in place; None for anything else."""
    kind = library().Tensor
    return [value._version if isinstance(value, kind) else None for value in values]


def differing(before: Sequence[object], after: Sequence[object]) -> tuple[int, ...]:
    """Return the places of the digests or versions that differ."""
    return tuple(i for i, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1])


def _declarations(record: Record, tensors: Sequence[Any]) -> dict[str, tuple[int, ...]]:
    dirty = {id(tensor) for tensor in record.dirty}
    returned = {id(output) for output in record.outputs}
    fixed = {id(tensor) for tensor in record.non_differentiable}
    declared = tuple(i for i, tensor in enumerate(tensors) if id(tensor) in dirty)
    return {
        "declared_dirty": declared,
        "dirty_not_returned": tuple(i for i in declared if id(tensors[i]) not in returned),
        "non_differentiable": tuple(
            i for i, output in enumerate(record.outputs) if id(output) in fixed
        ),
    }


def _kind_of_intermediate(value: Any) -> str:
    """Return ``constant`` for masks and integers, which have no derivative.

    And for what is no tensor, which no library saves.
    """
    is_tensor = isinstance(value, library().Tensor)
    has_derivative = is_tensor and (value.is_floating_point() or value.is_complex())
    return "intermediate" if has_derivative else "constant"


def _saved_values(record: Record, names: Sequence[str]) -> dict[str, Any]:
    """Describe saved tensors, and those behind attributes of ctx, each in a word."""
    tensors = [(f"input:{name}", value) for name, value in zip(names, record.inputs, strict=False)]
    tensors += [(f"output:{i}", output) for i, output in enumerate(record.outputs)]
    # Reversed, so that an input that is returned as it is counts as the input.
    words = {id(value): word for word, value in reversed(tensors)}
    return {
        "saved": tuple(
            "none" if each is None else words.get(id(each)) or _kind_of_intermediate(each)
            for each in record.saved
        ),
        "kept_on_ctx": tuple(
            (name, word)
            for name, value in record.attributes.items()
            for word in dict.fromkeys(_memory_behind(value, tensors))
        ),
    }


def _memory_behind(value: Any, tensors: Sequence[tuple[str, Any]]) -> Iterator[str]:
    """Yield the words of the `tensors` whose memory `value`, or an entry of it, shares."""
    kind = library().Tensor
    if isinstance(value, kind | np.ndarray):
        for word, tensor in tensors:
            if isinstance(tensor, kind) and (
                tensor is value or library().shares_memory(tensor, value)
            ):
                yield word
                return
    elif isinstance(value, list | tuple | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _memory_behind(entry, tensors)
    elif holds_others(value):
        described = _described(value.__code__) if isinstance(value, FunctionType) else ()
        for name, held in reachable([("", value)]):
            if name not in described:
                yield from _memory_behind(held, tensors)


_DESCRIPTIONS = {"device", "dtype", "layout", "ndim", "shape"}


def _described(code: CodeType) -> set[str]:
    """Return the captured variables of which code reads the dtype or shape, and no values."""
    uses: dict[str, set[bool]] = {}
    for use, following in itertools.pairwise(dis.get_instructions(code)):
        if use.opname in ("LOAD_DEREF", "LOAD_CLOSURE"):
            is_attribute = use.opname == "LOAD_DEREF" and following.opname == "LOAD_ATTR"
            is_description = is_attribute and following.argval in _DESCRIPTIONS
            uses.setdefault(use.argval, set()).add(is_description)
    return {name for name, each in uses.items() if each == {True}}

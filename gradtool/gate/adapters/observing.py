"""Puts together what one call showed: values before and after, declarations, memory shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradtool.engine import Tensor
from gradtool.gate.adapters.bound import BoundFunction
from gradtool.gate.adapters.captured import Buffers, buffers, changed, digest, roots_of
from gradtool.gate.adapters.pulling import copied
from gradtool.gate.adapters.recording import Record
from gradtool.verify.protocol import Array, Failure, Observation


class Observer:
    """Watches the tensors of one call and fills the fields of its `Observation`."""

    def __init__(self, bound: BoundFunction, tensors: Sequence[Tensor], record: Record) -> None:
        self._arguments = bound.arguments
        self._tensors = tensors
        self._record = record
        self._roots = [
            *roots_of(bound.target),
            *bound.arguments.others(),
        ]
        self._buffers = buffers(self._roots)
        self._inputs = _digests(tensors)
        self._saved: list[bytes | None] = []
        self._outputs: Sequence[Tensor | None] = ()
        self._outputs_before: list[bytes | None] = []
        self._cotangents: Sequence[Tensor | None] = ()
        self._cotangents_before: list[bytes | None] = []
        self._fields: dict[str, Any] = {}

    def end_forward(self, outputs: Sequence[Tensor | None]) -> None:
        """The function returned `outputs`, none where it raised."""
        self._fields["outputs"] = tuple(copied(output) for output in outputs)
        self._fields["output_requires_grad"] = tuple(
            output is not None and output.requires_grad for output in outputs
        )
        aliases = [
            (i, o, tensor._storage is not None and tensor._storage is output._storage)
            for i, tensor in enumerate(self._tensors)
            for o, output in enumerate(outputs)
            if output is not None and _overlap(tensor, output._array)
        ]
        self._fields["aliases"] = tuple((i, o) for i, o, _ in aliases)
        self._fields["hidden_aliases"] = tuple((i, o) for i, o, known in aliases if not known)
        self._fields["mutated_arguments"] = _changed(self._inputs, _digests(self._tensors))
        self._fields["buffers_changed_in_forward"] = changed(self._buffers, buffers(self._roots))
        self._fields["materializes"] = self._record.materializes
        self._fields.update(_declarations(self._record, self._tensors))
        self._fields.update(_kept(self._record, self._arguments.names))
        self._outputs, self._outputs_before = outputs, _digests(outputs)

    def begin_backward(self, cotangents: Sequence[Tensor | None]) -> None:
        """`cotangents`, one for each output, are about to be sent back."""
        self._inputs = _digests(self._tensors)
        self._saved = _digests(self._record.saved)
        self._buffers = self._all_buffers()
        self._cotangents = cotangents
        self._cotangents_before = _digests(cotangents)

    def see_gradients(self, gradients: tuple[Array | None, ...]) -> None:
        """Backward led to `gradients`."""
        self._fields["gradients"] = gradients

    def end_backward(self) -> None:
        """Backward returned or raised."""
        self._fields["raw"] = self._record.returned
        self._fields["received"] = self._record.received
        self._fields["mutated_in_backward"] = _changed(self._inputs, _digests(self._tensors))
        self._fields["mutated_saved"] = _changed(self._saved, _digests(self._record.saved))
        self._fields["mutated_cotangents"] = _changed(
            self._cotangents_before, _digests(self._cotangents)
        )
        self._fields["mutated_outputs"] = _changed(self._outputs_before, _digests(self._outputs))
        self._fields["buffers_changed_in_backward"] = changed(self._buffers, self._all_buffers())

    def observation(self, failure: Failure | None = None) -> Observation:
        """Everything seen so far."""
        return Observation(**self._fields, failure=failure)

    def _all_buffers(self) -> Buffers:
        """What can be reached without being passed, and what lies on ctx."""
        of_ctx = [(f"ctx.{name}", value) for name, value in self._record.attributes.items()]
        return buffers([*self._roots, *of_ctx])


def _digests(values: Sequence[Any]) -> list[bytes | None]:
    """A digest of the bytes of each tensor; None for what is not a tensor."""
    return [digest(value) if isinstance(value, Tensor) else None for value in values]


def _changed(before: Sequence[bytes | None], after: Sequence[bytes | None]) -> tuple[int, ...]:
    return tuple(i for i, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1])


def _overlap(tensor: Tensor, array: Any) -> bool:
    """Whether a tensor's memory is that of an array.

    An argument is a tensor made for this call, which fills its memory: what lies within the
    bounds of that memory is part of it.
    """
    own = tensor._array
    if type(own) is not type(array):
        return False
    if not isinstance(own, np.ndarray):
        return bool(own.data.ptr == array.data.ptr)
    return np.may_share_memory(own, array)


def _declarations(record: Record, tensors: Sequence[Tensor]) -> dict[str, tuple[int, ...]]:
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


def _kept(record: Record, names: Sequence[str]) -> dict[str, Any]:
    """What was saved and what was set on ctx, each in a word."""
    tensors = [(f"input:{name}", value) for name, value in zip(names, record.inputs, strict=False)]
    tensors += [(f"output:{i}", output) for i, output in enumerate(record.outputs)]
    words = {id(value): word for word, value in reversed(tensors)}
    return {
        "saved": tuple("none" if each is None else _word(each, words) for each in record.saved),
        "ctx_attributes": {name: _word(value, words) for name, value in record.attributes.items()},
        "kept_on_ctx": tuple(
            (name, word)
            for name, value in record.attributes.items()
            for word in dict.fromkeys(_behind(value, tensors))
        ),
    }


def _behind(value: Any, tensors: Sequence[tuple[str, Any]]) -> Iterator[str]:
    """The words of those `tensors` whose memory `value` holds, or an entry of it does."""
    if isinstance(value, Tensor | np.ndarray):
        array = value._array if isinstance(value, Tensor) else value
        for word, tensor in tensors:
            if isinstance(tensor, Tensor) and (tensor is value or _overlap(tensor, array)):
                yield word
                return
    elif isinstance(value, list | tuple | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _behind(entry, tensors)


def _word(value: Any, names: dict[int, str]) -> str:
    """``input:x``, ``output:0`` or ``intermediate`` for a tensor, the type's name for the rest.

    A list, tuple or dict with tensors in it names them: ``tuple[input:x, intermediate]``.
    """
    if isinstance(value, Tensor):
        return names.get(id(value), "intermediate")
    kind = type(value).__name__
    entries = value.values() if isinstance(value, dict) else value
    if not isinstance(value, list | tuple | dict):
        return kind
    tensors = [_word(entry, names) for entry in entries if isinstance(entry, Tensor)]
    return f"{kind}[{', '.join(tensors)}]" if tensors else kind

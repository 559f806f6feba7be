"""Puts together what one call showed: values before and after, declarations, memory shared."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from gradtool.engine import Tensor
from gradtool.engine._tensor import to_numpy
from gradtool.gate.adapters.arguments import Arguments
from gradtool.gate.adapters.recording import Record
from gradtool.verify.protocol import Array, Failure, Observation


class Observer:
    """Watches the tensors of one call and fills the fields of its `Observation`."""

    def __init__(self, arguments: Arguments, tensors: Sequence[Tensor], record: Record) -> None:
        self._arguments = arguments
        self._tensors = tensors
        self._record = record
        self._inputs = _digests(tensors)
        self._saved: list[bytes | None] = []
        self._cotangents: Sequence[Tensor | None] = ()
        self._cotangents_before: list[bytes | None] = []
        self._fields: dict[str, Any] = {}

    def end_forward(self, outputs: Sequence[Tensor | None]) -> None:
        """The function returned `outputs`, none where it raised."""
        self._fields["outputs"] = tuple(copied(output) for output in outputs)
        self._fields["output_requires_grad"] = tuple(
            output is not None and output.requires_grad for output in outputs
        )
        self._fields["aliases"] = tuple(
            (i, o)
            for i, tensor in enumerate(self._tensors)
            for o, output in enumerate(outputs)
            if output is not None and _overlap(tensor, output)
        )
        after = _digests(self._tensors)
        self._fields["mutated_arguments"] = _changed(self._inputs, after)
        self._inputs = after
        self._saved = _digests(self._record.saved)
        self._fields.update(_declarations(self._record, self._tensors))
        self._fields.update(_kept(self._record, self._arguments))

    def begin_backward(self, cotangents: Sequence[Tensor | None]) -> None:
        """`cotangents`, one for each output, are about to be sent back."""
        self._cotangents = cotangents
        self._cotangents_before = _digests(cotangents)

    def see_gradients(self, gradients: tuple[Array | None, ...]) -> None:
        """Backward led to `gradients`."""
        self._fields["gradients"] = gradients
        self._fields["raw"] = self._record.returned

    def end_backward(self) -> None:
        """Backward returned or raised."""
        self._fields["mutated_in_backward"] = _changed(self._inputs, _digests(self._tensors))
        self._fields["mutated_saved"] = _changed(self._saved, _digests(self._record.saved))
        self._fields["mutated_cotangents"] = _changed(
            self._cotangents_before, _digests(self._cotangents)
        )

    def observation(self, failure: Failure | None = None) -> Observation:
        """Everything seen so far."""
        return Observation(**self._fields, failure=failure)


def copied(tensor: Tensor | None) -> Array | None:
    """The values in host memory that nothing else holds."""
    return None if tensor is None else np.array(to_numpy(tensor._array))


def _digests(values: Sequence[Any]) -> list[bytes | None]:
    """A digest of the bytes of each tensor; None for what is not a tensor."""
    return [
        blake2b(to_numpy(value._array).tobytes(), digest_size=16).digest()
        if isinstance(value, Tensor)
        else None
        for value in values
    ]


def _changed(before: Sequence[bytes | None], after: Sequence[bytes | None]) -> tuple[int, ...]:
    return tuple(i for i, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1])


def _overlap(tensor: Tensor, output: Tensor) -> bool:
    """Whether the two share memory.

    The argument is a tensor made for this call, which fills its memory: what lies within
    the bounds of that memory is part of it.
    """
    if tensor.is_cuda or output.is_cuda:
        return tensor.is_cuda and output.is_cuda and tensor.data_ptr() == output.data_ptr()
    return bool(np.may_share_memory(tensor._array, output._array))


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


def _kept(record: Record, arguments: Arguments) -> dict[str, Any]:
    """What was saved and what was set on ctx, each in a word."""
    names = {id(output): f"output:{i}" for i, output in enumerate(record.outputs)}
    names |= {
        id(value): f"input:{name}"
        for name, value in zip(arguments.names, record.inputs, strict=False)
    }
    return {
        "saved": tuple("none" if each is None else _word(each, names) for each in record.saved),
        "ctx_attributes": {name: _word(value, names) for name, value in record.attributes.items()},
    }


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

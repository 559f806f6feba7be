"""Sequences of different lengths: padded to one tensor, or packed step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.creation import arange
from gradtool.engine._ops.creation.literals import as_tensor, tensor
from gradtool.engine._ops.shape.joining import stack
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional import pad


class PackedSequence_(NamedTuple):
    """Fields of `PackedSequence`."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """The elements of sequences, step by step, the longest sequence first in each.

    `batch_sizes` counts the sequences that have each step; `sorted_indices` say where each was
    before they were sorted.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        """Make one of its fields, or of a pair of data and batch sizes."""
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, list | tuple) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move or convert the data; itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        places = [
            None if each is None else each.to(data.device)
            for each in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(data, self.batch_sizes, *places)

    def pin_memory(self) -> Self:
        """Copy the data to pinned memory."""
        return type(self)(self.data.pin_memory(), *self[1:])

    def cuda(self, *args: Any, **kwargs: Any) -> Self:
        """Copy to a GPU."""
        return self.to(*(args or ("cuda",)), **kwargs)

    def cpu(self) -> Self:
        """Copy to the host."""
        return self.to("cpu")

    def is_pinned(self) -> bool:
        """Return True if the data is in pinned memory."""
        return bool(self.data.is_pinned())

    @property
    def is_cuda(self) -> bool:
        """True if the data is on a GPU."""
        return bool(self.data.is_cuda)


def _converting(dtype: _dtypes.dtype) -> Callable[[PackedSequence], PackedSequence]:
    def convert(self: PackedSequence) -> PackedSequence:
        return self.to(dtype=dtype)

    convert.__doc__ = f"Convert the data to {dtype.name}."
    return convert


for _name, _dtype in (
    ("double", _dtypes.float64), ("float", _dtypes.float32), ("half", _dtypes.float16),
    ("long", _dtypes.int64), ("int", _dtypes.int32), ("short", _dtypes.int16),
    ("char", _dtypes.int8), ("byte", _dtypes.uint8),
):  # fmt: skip
    setattr(PackedSequence, _name, _converting(_dtype))


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return where each element goes; None for none."""
    if permutation is None:
        return None
    places = arange(permutation.numel(), device=permutation.device)
    inverse: Tensor = permutation.new_zeros(permutation.shape).scatter(0, permutation, places)
    return inverse


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack sequences (steps, batch, …), or (batch, steps, …) with `batch_first`.

    Raises:
        RuntimeError: a length is not positive, or they are not in descending order and
            `enforce_sorted` says that they are.
    """
    lengths = as_tensor(lengths).to(_dtypes.int64)
    indices = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        indices = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, indices)
    padded = input.transpose(0, 1) if batch_first else input
    counts = np.asarray(lengths.tolist(), dtype=np.int64)
    _check_lengths(counts, padded.shape[1])
    sizes = (counts > np.arange(counts[0])[:, None]).sum(1)
    rows = tensor(_rows(sizes, padded.shape[1]), device=input.device)
    data = padded.flatten(0, 1).index_select(0, rows)
    return PackedSequence(data, tensor(sizes), indices)


def _check_lengths(counts: Any, batch: int) -> None:
    if len(counts) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} "
            f"(batch_size={batch})"
        )
    if not len(counts):
        raise RuntimeError("Cannot pack empty tensors.")
    if counts[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if (np.diff(counts) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
            "can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )


def _rows(sizes: Any, batch: int) -> Any:
    """Positions of the packed elements in the padded ones, (steps, batch) flattened."""
    return np.concatenate([step * batch + np.arange(size) for step, size in enumerate(sizes)])


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the inverse of `pack_padded_sequence`: the padded sequences and their lengths.

    Raises:
        ValueError: the longest sequence does not fit into `total_length`.
    """
    sizes = np.asarray(sequence.batch_sizes.tolist(), dtype=np.int64)
    steps = len(sizes) if total_length is None else total_length
    if steps < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but "
            f"got total_length={total_length} and max sequence length being {len(sizes)}"
        )
    data, batch = sequence.data, int(sizes[0])
    rows = tensor(_rows(sizes, batch), device=data.device)
    blank = data.new_full((steps * batch, *data.shape[1:]), padding_value)
    padded = blank.index_copy(0, rows, data).unflatten(0, (steps, batch))
    padded = padded.transpose(0, 1) if batch_first else padded
    lengths = tensor((np.arange(batch) < sizes[:, None]).sum(0))
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences of different lengths along dimension 1, or 0 with `batch_first`.

    Raises:
        RuntimeError: there are none, or the side is unknown.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    each = tuple(sequences)
    if not each:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    longest = max([len(one) for one in each])
    return stack(
        [_extended(one, longest, padding_value, padding_side) for one in each],
        0 if batch_first else 1,
    )


def _extended(sequence: Tensor, steps: int, value: float, side: str) -> Tensor:
    more = steps - sequence.shape[0]
    ends = [0, more] if side == "right" else [more, 0]
    return pad(sequence, [*[0, 0] * (sequence.ndim - 1), *ends], value=value)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Return the sequences of a padded batch as a list."""
    padded = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [one[:count] for one, count in zip(padded, lengths.tolist(), strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences.

    Raises:
        RuntimeError: they are not in descending order of length and `enforce_sorted` says so.
    """
    lengths = [one.shape[0] for one in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the inverse of `pack_sequence`."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip

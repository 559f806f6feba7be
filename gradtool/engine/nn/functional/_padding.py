"""Padding: dimensions extended at both ends, or cropped where a pad is negative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import changing
from gradtool.engine._ops.core.dims import Ints, as_ints
from gradtool.engine._ops.core.dtype_support import NUMBERS, check_taken
from gradtool.engine._ops.core.kinds import general, linear
from gradtool.engine._ops.core.node_names import node_name
from gradtool.engine._tensor import Tensor

Pairs = tuple[tuple[int, int], ...]


def _padded(x: Any, *, pairs: Pairs, value: Any = 0) -> Any:
    return np.pad(x, pairs, constant_values=value)


def _crop(g: Tensor, pairs: Pairs) -> Tensor:
    for dim, (before, after) in enumerate(pairs):
        if before or after:
            g = g.narrow(dim, before, g.shape[dim] - before - after)
    return g


def _examples_unpadded(pairs: Sequence[tuple[int, int]], _size: int) -> tuple[Any, ...]:
    """Return the pads of all examples: none for their own dimension."""
    return ((0, 0), *pairs)


_with_zeros = linear("constant_pad_nd", _padded, _crop, batch=changing(pairs=_examples_unpadded))
_with_value = general("constant_pad_nd", _padded, _crop, batch=changing(pairs=_examples_unpadded))


def _padding_node(_input: Any, pad: Any, mode: str = "constant", value: Any = None) -> str | None:
    kind = {"reflect": "Reflection", "replicate": "Replication"}.get(mode)
    return None if kind is None else f"{kind}Pad{len(pad) // 2}DBackward0"


@node_name(_padding_node)
def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Extend the last dimensions by ``pad``: (before, after) of the last one, and so on.

    Args:
        input: Any tensor; for modes other than ``constant``, with one or two dimensions more
            than are padded.
        pad: Two numbers for each dimension, the last one first; negative ones crop.
        mode: ``constant``, ``reflect``, ``replicate`` or ``circular``.
        value: The padding of ``constant``.

    Raises:
        RuntimeError: the numbers are not in pairs, or more than there are dimensions.
        NotImplementedError: the mode is unknown, or does not take that many dimensions.
    """
    pairs = _pairs(as_ints(tuple(pad)), input.ndim)
    if mode == "constant":
        return _constant(input, pairs, 0 if value is None else value)
    if mode not in _POSITIONS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value not in (None, 0):
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    _check_rank(input, len(pad) // 2)
    if mode != "circular":
        check_taken(input, NUMBERS, f"{_KERNELS[mode]}_pad{len(pad) // 2}d")
    for dim, (before, after) in enumerate(pairs):
        if before or after:
            positions = _POSITIONS[mode](input.shape[dim], before, after)
            index = input.new_tensor(positions, dtype=_dtypes.int64)
            input = input.index_select(dim, index)
    return input


def _pairs(pad: Ints, ndim: int) -> Pairs:
    """Padding (before, after) of every dimension, the first one first."""
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > ndim:
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but "
            f"got padding length {len(pad)} and input of dimension {ndim}"
        )
    given = tuple(zip(pad[::2], pad[1::2]))[::-1]
    return ((0, 0),) * (ndim - len(given)) + given


def _constant(input: Tensor, pairs: Pairs, value: float) -> Tensor:
    cut = tuple([(max(-before, 0), max(-after, 0)) for before, after in pairs])
    grown = tuple([(max(before, 0), max(after, 0)) for before, after in pairs])
    for dim, (before, after) in enumerate(pairs):
        if input.shape[dim] + before + after < 0:
            raise RuntimeError(
                f"The input size {input.shape[dim]}, plus negative padding {before} and {after}, "
                f"resulted in a negative output size, which is invalid. Check dimension {dim} of "
                "your input."
            )
    inner = _crop(input, cut)
    if value == 0:
        return _with_zeros(inner, pairs=grown)
    return _with_value(inner, pairs=grown, value=value)


def _check_rank(input: Tensor, padded: int) -> None:
    if not (1 <= padded <= 3 and input.ndim - padded in (1, 2)):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now"
        )


# ---- where the elements come from -----------------------------------------------------------


def _reflect(extent: int, before: int, after: int) -> Any:
    if max(before, after) >= extent:
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, but "
            f"got: padding ({before}, {after}) at a dimension of size {extent}"
        )
    places = np.abs(np.arange(-before, extent + after))
    return np.where(places < extent, places, 2 * (extent - 1) - places)


def _replicate(extent: int, before: int, after: int) -> Any:
    return np.arange(-before, extent + after).clip(0, extent - 1)


def _around(extent: int, before: int, after: int) -> Any:
    if max(before, after) > extent:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    return np.arange(-before, extent + after) % extent


_KERNELS = {"reflect": "reflection", "replicate": "replication"}
_POSITIONS: dict[str, Callable[[int, int, int], Any]] = {
    "reflect": _reflect, "replicate": _replicate, "circular": _around,
}  # fmt: skip

__all__ = ["pad"]

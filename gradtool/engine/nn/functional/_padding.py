"""Padding: dimensions extended at both ends, or cropped where a pad is negative."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.device import module_of
from gradtool.engine._ops.core.batching import changing, of_examples
from gradtool.engine._ops.core.dims import Ints, as_ints
from gradtool.engine._ops.core.dtype_support import NUMBERS, SMOOTH, check_taken
from gradtool.engine._ops.core.kinds import general, linear
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.core.scalars import scalar_for
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


@node_name(saving(_padding_node, "input"))
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
    if mode == "constant":
        if isinstance(value, complex):
            raise TypeError("pad(): argument 'value' (position 4) must be float, not complex")
        return padded_with(input, pad, 0.0 if value is None else float(value))
    pairs = _planned(input._array.shape, as_ints(tuple(pad)), mode, value in (None, 0))
    if mode != "circular":
        check_taken(input, NUMBERS, f"{_KERNELS[mode]}_pad{len(pad) // 2}d")
    return _extended(input, pairs=pairs, mode=mode) if any(map(any, pairs)) else input


@functools.lru_cache(maxsize=64)
def _planned(shape: Ints, pad: Ints, mode: str, takes_value: bool) -> Pairs:
    """Padding of every dimension in a mode that moves elements, if it fits the shape."""
    pairs = _pairs(pad, len(shape))
    if mode not in _POSITIONS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if not takes_value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    _check_rank(len(shape), len(pad) // 2)
    _check_extents(shape, pairs, mode)
    return pairs


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


def padded_with(input: Tensor, pad: Sequence[int], value: Any) -> Tensor:
    """`pad` with a number, complex or not, as the dtype of the input has it."""
    pairs = _pairs(as_ints(tuple(pad)), input.ndim)
    return _constant(input, pairs, scalar_for(input, value))


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


def _check_rank(ndim: int, padded: int) -> None:
    if not (1 <= padded <= 3 and ndim - padded in (1, 2)):
        raise NotImplementedError(
            f"Padding size {2 * padded} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )


def _check_extents(shape: Ints, pairs: Pairs, mode: str) -> None:
    """Refuse pads that a mode has no elements for, and those that leave nothing."""
    if 0 in shape[1:] and mode != "circular":
        spatial = len(pairs) - [*(any(pair) for pair in pairs), True].index(True)
        spatial = max(spatial, 1)
        raise RuntimeError(
            f"Expected {spatial + 1}D or {spatial + 2}D (batch mode) tensor with possibly 0 batch "
            f"size and other non-zero dimensions for input, but got: {list(shape)}"
        )
    for dim, (before, after) in enumerate(pairs):
        extent = shape[dim]
        if mode == "circular":
            if max(before, after) > extent:
                raise RuntimeError("Padding value causes wrapping around more than once.")
            if extent + before + after < 0:
                raise RuntimeError("Negative padding value is resulting in an empty dimension")
        elif mode == "reflect" and max(before, after) >= extent and (before or after):
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({before}, {after}) at dimension {dim} of input "
                f"{list(shape)}"
            )
        elif dim and extent + before + after < 1:
            axis = "WHD"[len(pairs) - 1 - dim]
            raise RuntimeError(
                f"input ({axis}: {extent}) is too small. Calculated output {axis}: "
                f"{extent + before + after}"
            )


# ---- where the elements come from -----------------------------------------------------------


def _reflect(extent: int, before: int, after: int) -> Any:
    places = np.abs(np.arange(-before, extent + after))
    return np.where(places < extent, places, 2 * (extent - 1) - places)


def _replicate(extent: int, before: int, after: int) -> Any:
    return np.arange(-before, extent + after).clip(0, extent - 1)


def _around(extent: int, before: int, after: int) -> Any:
    """Copy what is on the other side, of the rest that negative pads leave."""
    places = np.zeros(extent + before + after, dtype=np.int64)
    inner = np.arange(max(-before, 0), extent - max(-after, 0))
    start = max(before, 0)
    stop = start + len(inner)
    places[start:stop] = inner
    if before > 0:
        places[:start] = places[stop - before : stop]
    if after > 0:
        places[stop:] = places[start : start + after]
    return places


def _extended_by(input: Any, *, pairs: Pairs, mode: str) -> Any:
    library = module_of(input)
    for dim, (before, after) in enumerate(pairs):
        if before or after:
            positions = _places(mode, input.shape[dim], before, after)
            input = input.take(library.asarray(positions), dim)
    return input


def _folded_by(g: Any, *, shape: Ints, pairs: Pairs, mode: str) -> Any:
    """The transpose."""
    for dim, (before, after) in enumerate(pairs):
        if before or after:
            folded = (*g.shape[:dim], shape[dim], *g.shape[dim + 1 :])
            g = _folded_along(g, folded, dim, mode, before, after)
    return g


def _folded_along(g: Any, shape: Ints, dim: int, mode: str, before: int, after: int) -> Any:
    """The transpose along one dimension: the middle as it is, and the ends added one by one."""
    out = np.zeros_like(g, shape=shape)
    source, target = g.swapaxes(0, dim), out.swapaxes(0, dim)
    positions = _places(mode, shape[dim], before, after).tolist()
    start, stop = max(before, 0), len(positions) - max(after, 0)
    if stop > start:
        target[positions[start] : positions[start] + stop - start] = source[start:stop]
    for place in (*range(start), *range(max(stop, start), len(positions))):
        target[positions[place]] += source[place]
    return out


def _places(mode: str, extent: int, before: int, after: int) -> Any:
    """For each place of the result that of the element which it takes."""
    find = _found_places if extent + before + after <= _KEPT_PLACES else _found_places.__wrapped__
    return find(mode, extent, before, after)


_KEPT_PLACES = 2**12
"""The longest dimension whose places are kept for the next tensor: of 32 kilobytes."""


@functools.lru_cache(maxsize=64)
def _found_places(mode: str, extent: int, before: int, after: int) -> Any:
    return _POSITIONS[mode](extent, before, after)


_extended: Primitive = linear(
    "pad",
    _extended_by,
    lambda g, input_shape, pairs, mode: _folded(g, shape=input_shape, pairs=pairs, mode=mode),
    of_arrays=lambda g, shape, pairs, mode: _folded_by(g, shape=shape, pairs=pairs, mode=mode),
    dtypes=NUMBERS,
    batch=changing(pairs=_examples_unpadded),
).keeping("input")
_folded: Primitive = linear(
    "pad_backward",
    _folded_by,
    lambda g, pairs, mode: _extended(g, pairs=pairs, mode=mode),
    dtypes=SMOOTH,
    batch=changing(shape=of_examples, pairs=_examples_unpadded),
)

_KERNELS = {"reflect": "reflection", "replicate": "replication"}
_POSITIONS: dict[str, Callable[[int, int, int], Any]] = {
    "reflect": _reflect, "replicate": _replicate, "circular": _around,
}  # fmt: skip

__all__ = ["pad"]

"""Discrete Fourier transforms: one linear primitive, and what is made of it.

A transform of real numbers is that of complex ones whose other half is left out; its inverse
puts the other half, the conjugates in reverse, back.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from gradtool.device import module_of
from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import over_dims
from gradtool.engine._ops.core.dims import Ints, wrap_dim, wrap_dims
from gradtool.engine._ops.core.dtype_support import COMPLEX, TYPE_NAMES
from gradtool.engine._ops.core.kinds import conjugate, linear
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.elementwise.complex_parts import real
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor

NORMS = ("backward", "ortho", "forward")


def _transform(x: Any, *, dims: Ints, forward: bool) -> Any:
    """Not scaled in either direction, so that each is the adjoint of the other."""
    if not dims:
        return x.copy()
    fft = module_of(x).fft
    out = fft.fftn(x, axes=dims) if forward else fft.ifftn(x, axes=dims, norm="forward")
    return out.astype(x.dtype)


_fft: Primitive = linear(
    "fft_c2c",
    _transform,
    lambda g, dims, forward: _fft(g, dims=dims, forward=not forward),
    dtypes=COMPLEX,
    batch=over_dims,
)


def transformed(
    x: Tensor, extents: Sequence[int | None] | None, dims: Any, norm: str | None, forward: bool
) -> Tensor:
    """Complex numbers, cut or filled with zeros to `extents`, along `dims`."""
    wrapped = _dims_of(x, extents, dims)
    x = fitted(as_complex(x), wrapped, extents)
    return _scaled(_fft(x, dims=wrapped, forward=forward), wrapped, norm, forward)


def _dims_of(x: Tensor, extents: Sequence[int | None] | None, dims: Any) -> Ints:
    if dims is None:
        count = x.ndim if extents is None else len(extents)
        dims = range(-count, 0)
    return wrap_dims(dims, x.ndim)


def as_complex(x: Tensor) -> Tensor:
    """The same as complex numbers, of the dtype that torch chooses."""
    if x.is_complex():
        return x
    if not x.is_floating_point():
        x = x.to(_dtypes.get_default_dtype())
    if x.dtype is _dtypes.float16:
        raise RuntimeError(f"Unsupported dtype {TYPE_NAMES['float16']} for a Fourier transform")
    return x.to(_dtypes.complex128 if x.dtype is _dtypes.float64 else _dtypes.complex64)


def fitted(x: Tensor, dims: Ints, extents: Sequence[int | None] | None) -> Tensor:
    """Cut, or filled with zeros, to so many elements along each dimension.

    Raises:
        RuntimeError: a dimension would have none.
    """
    for dim, extent in zip(dims, extents or [None] * len(dims)):
        wanted = x.shape[dim] if extent is None or extent == -1 else extent
        if wanted < 1:
            raise RuntimeError(f"Invalid number of data points ({wanted}) specified")
        missing = wanted - x.shape[dim]
        if missing > 0:
            zeros = x.new_zeros([missing if at == dim else n for at, n in enumerate(x.shape)])
            x = cat([x, zeros], dim)
        elif missing < 0:
            x = x.narrow(dim, 0, wanted)
    return x


def _scaled(x: Tensor, dims: Ints, norm: str | None, forward: bool) -> Tensor:
    norm = norm or "backward"
    if norm not in NORMS:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    if norm == ("backward" if forward else "forward"):
        return x
    count = prod([x.shape[dim] for dim in dims])
    return x / (count**0.5 if norm == "ortho" else count)


# ---- of real numbers ------------------------------------------------------------------------


def half_of_real(
    x: Tensor, extents: Sequence[int | None] | None, dims: Any, norm: str | None
) -> Tensor:
    """The transform of real numbers, along the last of `dims` the first half of it.

    Raises:
        RuntimeError: the numbers are complex.
    """
    if x.is_complex():
        raise RuntimeError(f"rfft expects a real input tensor, but got {TYPE_NAMES[x.dtype.name]}")
    last = _dims_of(x, extents, dims)[-1]
    whole = transformed(x, extents, dims, norm, forward=True)
    return whole.narrow(last, 0, whole.shape[last] // 2 + 1)


def real_of_half(
    x: Tensor, extents: Sequence[int | None] | None, dims: Any, norm: str | None
) -> Tensor:
    """The inverse: real numbers, an even number along the last of `dims` unless `s` says so."""
    wrapped = _dims_of(x, extents, dims)
    last = wrapped[-1]
    given = list(extents or [None] * len(wrapped))
    count = given[-1] if given[-1] not in (None, -1) else 2 * (x.shape[last] - 1)
    if count is None or count < 1:
        raise RuntimeError(f"Invalid number of data points ({count}) specified")
    others = fitted(as_complex(x), wrapped[:-1], given[:-1])
    inner = _scaled(_fft(others, dims=wrapped[:-1], forward=False), wrapped[:-1], norm, False)
    half = fitted(inner, (last,), [count // 2 + 1])
    mirrored = conjugate(half.narrow(last, 1, (count - 1) // 2).flip(last))
    whole = _fft(cat([half, mirrored], last), dims=(last,), forward=False)
    return real(_scaled(whole, (last,), norm, False))


def shifted(x: Tensor, dim: Any, sign: int) -> Tensor:
    """Rolled by half of each dimension: zero frequency to the middle, or back."""
    dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    wrapped = [wrap_dim(each, x.ndim) for each in dims]
    shifts = [x.shape[each] // 2 if sign > 0 else -(x.shape[each] // 2) for each in wrapped]
    rolled: Tensor = x.roll(shifts, wrapped)
    return rolled


__all__: list[str] = []
"""The functions go by their names in ``torch.fft``."""

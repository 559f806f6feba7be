"""Discrete Fourier transforms: three linear primitives, and what is made of them.

One is of complex numbers to complex ones, one of real numbers, whose other half need not be kept,
and one back to real numbers from half of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtool.device import module_of
from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import over_dims
from gradtool.engine._ops.core.dims import Ints, wrap_dim
from gradtool.engine._ops.core.dtype_support import COMPLEX, FLOATS, TYPE_NAMES
from gradtool.engine._ops.core.kinds import conjugate, linear
from gradtool.engine._ops.core.primitive import Primitive
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._tensor import Tensor

NORMS = ("backward", "ortho", "forward")

# ---- primitives ------------------------------------------------------------------------------
#
# `norm` is NumPy's name for the division by the number of elements that the transform makes, seen
# from its own direction. A transform and its adjoint go in opposite directions and divide alike.


def _in_layout(
    transform: Callable[..., Any], x: Any, dims: Ints, norm: str | None, **options: Any
) -> Any:
    """A transform whose result lies in memory as torch's does, with `dims` the innermost."""
    strides = x.strides
    order = sorted(range(x.ndim), key=lambda dim: (dim in dims, -abs(strides[dim])))
    axes = [order.index(dim) for dim in dims]
    rows = module_of(x).ascontiguousarray(x.transpose(order))
    out = transform(rows, axes=axes, norm=norm, **options)
    return out.transpose([order.index(dim) for dim in range(x.ndim)])


def _of_complex(x: Any, *, dims: Ints, forward: bool, norm: str | None) -> Any:
    if not dims:
        return x.copy()
    fft = module_of(x).fft
    return _in_layout(fft.fftn if forward else fft.ifftn, x, dims, norm)


def _of_real(x: Any, *, dims: Ints, half: bool, norm: str | None) -> Any:
    fft = module_of(x).fft
    return _in_layout(fft.rfftn if half else fft.fftn, x, dims, norm)


def _to_real(x: Any, *, dims: Ints, extent: int, norm: str | None) -> Any:
    extents = [*[x.shape[dim] for dim in dims[:-1]], extent]
    return _in_layout(module_of(x).fft.irfftn, x, dims, norm, s=extents)


_ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
"""The same division for a transform of the other direction."""


def _of_real_vjp(g: Tensor, x_shape: Ints, dims: Ints, half: bool, norm: str) -> Tensor:
    """The adjoint: what was left out counts as zero, the imaginary parts are dropped."""
    if half:
        g = _fitted(g, dims[-1:], [x_shape[dims[-1]]])
    found: Tensor = _c2c(g, dims=dims, forward=False, norm=_ADJOINT[norm]).real
    return found


def _to_real_vjp(g: Tensor, dims: Ints, norm: str, extent: int) -> Tensor:
    """The adjoint: what the conjugates in the other half repeat counts twice."""
    out = _r2c(g, dims=dims, half=True, norm=_ADJOINT[norm])
    last, twice = dims[-1], (extent - 1) // 2
    if not twice:
        return out
    once = out.shape[last] - 1 - twice
    parts = [out.narrow(last, 0, 1), out.narrow(last, 1, twice) * 2]
    return cat([*parts, out.narrow(last, 1 + twice, once)] if once else parts, last)


_c2c: Primitive = linear(
    "fft_c2c",
    _of_complex,
    lambda g, dims, forward, norm: _c2c(g, dims=dims, forward=not forward, norm=_ADJOINT[norm]),
    dtypes=COMPLEX,
    batch=over_dims,
)
_r2c: Primitive = linear("fft_r2c", _of_real, _of_real_vjp, dtypes=FLOATS, batch=over_dims).keeping(
    "x"
)
_c2r: Primitive = linear("fft_c2r", _to_real, _to_real_vjp, dtypes=COMPLEX, batch=over_dims)

# ---- arguments -------------------------------------------------------------------------------


def _prepared(x: Tensor, s: Any, dim: Any) -> tuple[Ints, list[int]]:
    """The dimensions to transform, and how many elements of each.

    Raises:
        RuntimeError: they do not fit each other or the tensor.
    """
    extents = None if s is None else _listed(s)
    if dim is not None:
        dims = tuple([wrap_dim(each, x.ndim) for each in _listed(dim)])
        if extents is not None and len(extents) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(set(dims)) < len(dims):
            raise RuntimeError("FFT dims must be unique")
    else:
        count = x.ndim if extents is None else len(extents)
        if count > x.ndim:
            raise RuntimeError(
                f"Got shape with {count} values but input tensor only has {x.ndim} dimensions."
            )
        dims = tuple(range(x.ndim - count, x.ndim))
    return dims, _extents(x, dims, extents)


def _extents(x: Tensor, dims: Ints, given: list[int] | None) -> list[int]:
    found = [
        x.shape[dim] if extent == -1 else extent
        for dim, extent in zip(dims, given or [-1] * len(dims), strict=True)
    ]
    for extent in found:
        _check_count(extent)
    return found


def _check_count(count: int) -> None:
    if count < 1:
        raise RuntimeError(f"Invalid number of data points ({count}) specified")


def _listed(values: Any) -> list[int]:
    return [values] if isinstance(values, int) else list(values)


def _only(x: Tensor, dim: int) -> int:
    """The number of a dimension, which a 0-d tensor has none of."""
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, x.ndim)


def _floating(x: Tensor) -> Tensor:
    """The same as floating or complex numbers, of the dtype that torch chooses."""
    if not x.dtype.is_differentiable:
        x = x.to(_dtypes.get_default_dtype())
    if x.dtype.itemsize < 4:
        raise RuntimeError(f"Unsupported dtype {TYPE_NAMES[x.dtype.name]}")
    return x


def as_complex(x: Tensor) -> Tensor:
    """The same as complex numbers, of the dtype that torch chooses."""
    x = _floating(x)
    return x if x.is_complex() else x.to(x.dtype.to_complex())


def _fitted(x: Tensor, dims: Ints, extents: Sequence[int]) -> Tensor:
    """Cut, or filled with zeros, to so many elements along each dimension."""
    for dim, wanted in zip(dims, extents, strict=True):
        missing = wanted - x.shape[dim]
        if missing > 0:
            zeros = x.new_zeros([missing if at == dim else n for at, n in enumerate(x.shape)])
            x = cat([x, zeros], dim)
        elif missing < 0:
            x = x.narrow(dim, 0, wanted)
    return x


def _norm_of(norm: str | None) -> str:
    """The checked name of a division, which means the same for a transform and its inverse."""
    if norm is not None and norm not in NORMS:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return norm or "backward"


def _of_direction(norm: str, forward: bool, computed_forward: bool) -> str:
    return norm if forward == computed_forward else _ADJOINT[norm]


# ---- along one dimension ---------------------------------------------------------------------


def transformed(x: Tensor, n: int | None, dim: int, norm: str | None, *, forward: bool) -> Tensor:
    """The transform of complex or real numbers, in full."""
    x, dim = _floating(x), _only(x, dim)
    if not x.is_complex():
        return of_real("fft", x, n, dim, norm, forward=forward, half=False)
    (extent,) = _extents(x, (dim,), None if n is None else [n])
    x = _fitted(x, (dim,), [extent])
    return _c2c(x, dims=(dim,), forward=forward, norm=_norm_of(norm))


def of_real(
    name: str,
    x: Tensor,
    n: int | None,
    dim: int,
    norm: str | None,
    *,
    forward: bool = True,
    half: bool = True,
) -> Tensor:
    """The transform of real numbers: with `half` without what the conjugates repeat.

    Raises:
        RuntimeError: the numbers are complex.
    """
    if x.is_complex():
        found = TYPE_NAMES[x.dtype.name]
        raise RuntimeError(f"{name} expects a real input tensor, but got {found}")
    x, dim = _floating(x), _only(x, dim)
    (extent,) = _extents(x, (dim,), None if n is None else [n])
    norm = _of_direction(_norm_of(norm), forward, True)
    out = _r2c(_fitted(x, (dim,), [extent]), dims=(dim,), half=half, norm=norm)
    return out if forward else conjugate(out)


def to_real(x: Tensor, n: int | None, dim: int, norm: str | None, *, forward: bool) -> Tensor:
    """The real numbers whose transform has this half: `n`, or else an even number."""
    x, dim = as_complex(x), _only(x, dim)
    extent = 2 * (x.shape[dim] - 1) if n is None else n
    _check_count(extent)
    norm = _of_direction(_norm_of(norm), forward, False)
    x = _fitted(x, (dim,), [extent // 2 + 1]) if n is not None else x
    return _c2r(conjugate(x) if forward else x, dims=(dim,), extent=extent, norm=norm)


# ---- along several dimensions ----------------------------------------------------------------


def transformed_over(x: Tensor, s: Any, dim: Any, norm: str | None, *, forward: bool) -> Tensor:
    """`transformed`, along several dimensions."""
    x = as_complex(x)
    dims, extents = _prepared(x, s, dim)
    x = _fitted(x, dims, extents)
    return _c2c(x, dims=dims, forward=forward, norm=_norm_of(norm))


def of_real_over(x: Tensor, s: Any, dim: Any, norm: str | None) -> Tensor:
    """`of_real`, along several dimensions, of which the last is halved."""
    if x.is_complex():
        found = TYPE_NAMES[x.dtype.name]
        raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {found}")
    x = _floating(x)
    dims, extents = _prepared(x, s, dim)
    _require_axis("rfftn", dims)
    return _r2c(_fitted(x, dims, extents), dims=dims, half=True, norm=_norm_of(norm))


def to_real_over(x: Tensor, s: Any, dim: Any, norm: str | None) -> Tensor:
    """`to_real`, along several dimensions, of which the last is half of what comes back."""
    x, dims, extent = _halved("irfftn", x, s, dim)
    return _c2r(x, dims=dims, extent=extent, norm=_norm_of(norm))


def of_half_over(x: Tensor, s: Any, dim: Any, norm: str | None) -> Tensor:
    """The real transform of a signal that is Hermitian along the last of several dimensions."""
    x, dims, extent = _halved("hfftn", x, s, dim)
    norm = _norm_of(norm)
    inner = _c2c(x, dims=dims[:-1], forward=True, norm=norm) if dims[1:] else x
    return _c2r(conjugate(inner), dims=dims[-1:], extent=extent, norm=_ADJOINT[norm])


def to_half_over(x: Tensor, s: Any, dim: Any, norm: str | None) -> Tensor:
    """The inverse of `of_half_over`."""
    dims, extents = _prepared(x, s, dim)
    _require_axis("ihfftn", dims)
    if x.is_complex():
        found = TYPE_NAMES[x.dtype.name]
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {found}")
    x, norm = _fitted(_floating(x), dims, extents), _norm_of(norm)
    half: Tensor = conjugate(_r2c(x, dims=dims[-1:], half=True, norm=_ADJOINT[norm]))
    return _c2c(half, dims=dims[:-1], forward=False, norm=norm) if dims[1:] else half


def _halved(name: str, x: Tensor, s: Any, dim: Any) -> tuple[Tensor, Ints, int]:
    """The numbers that a real signal is made of, the dimensions, and the extent of the last."""
    x = as_complex(x)
    dims, extents = _prepared(x, s, dim)
    _require_axis(name, dims)
    given = -1 if s is None else _listed(s)[-1]
    extent = 2 * (x.shape[dims[-1]] - 1) if given == -1 else given
    _check_count(extent)
    return _fitted(x, dims, [*extents[:-1], extent // 2 + 1]), dims, extent


def _require_axis(name: str, dims: Ints) -> None:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


# ---- order -----------------------------------------------------------------------------------


def shifted(x: Tensor, dim: Any, sign: int) -> Tensor:
    """Rolled by half of each dimension: zero frequency to the middle, or back."""
    dims = range(x.ndim) if dim is None else _listed(dim)
    wrapped = [wrap_dim(each, x.ndim) for each in dims]
    shifts = [x.shape[each] // 2 if sign > 0 else -(x.shape[each] // 2) for each in wrapped]
    rolled: Tensor = x.roll(shifts, wrapped)
    return rolled


__all__: list[str] = []
"""The functions go by their names in ``torch.fft``."""

"""Complex numbers and their parts: real and imaginary ones, magnitude and phase.

Parts are views of the same memory. Gradients follow torch's convention: the gradient of a real
function of ``z = x + iy`` is ``∂/∂x + i ∂/∂y``, and a real number's is real.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine._ops.core.batching import unchanged, with_examples
from gradtool.engine._ops.core.dtype_support import COMPLEX, FLOATS, REAL, TYPE_NAMES, takes
from gradtool.engine._ops.core.kinds import conjugate, general, linear, unary
from gradtool.engine._ops.core.op import attribute, op
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.elementwise.conjugates import conj, is_conj, neg_view
from gradtool.engine._ops.elementwise.elementwise import cos, sin
from gradtool.engine._ops.shape.expansion import broadcast_tensors
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel

# ---- parts as views -------------------------------------------------------------------------


def _pairs(x: Any) -> Any:
    """The two parts of each number along a new last dimension, in the same memory."""
    return x[..., None].view(x.real.dtype)


def _numbers(x: Any) -> Any:
    """The numbers whose parts lie side by side along the last dimension, in the same memory."""
    return x.view(np.result_type(x.dtype, np.complex64))[..., 0]


_real = linear(
    "real",
    lambda x: x.real,
    lambda g, x_dtype: g.to(x_dtype),
    is_view=True,
    dtypes=COMPLEX,
    batch=unchanged,
)
_imag = linear(
    "imag",
    lambda x: x.imag,
    lambda g, x_dtype: g.to(x_dtype) * 1j,
    is_view=True,
    dtypes=COMPLEX,
    batch=unchanged,
)
_view_as_real: Primitive = linear(
    "view_as_real",
    _pairs,
    lambda g: _view_as_complex(g.contiguous()),
    is_view=True,
    dtypes=COMPLEX,
    batch=unchanged,
)
_view_as_complex: Primitive = linear(
    "view_as_complex",
    _numbers,
    lambda g: _view_as_real(g),
    is_view=True,
    dtypes=FLOATS,
    batch=unchanged,
)


@attribute()
@op
def real(x: Tensor) -> Tensor:
    """The real parts, as a view; a real tensor is returned as it is."""
    if not x.is_complex():
        return x
    return _real(conj(x) if is_conj(x) else x)


@attribute()
@op
def imag(x: Tensor) -> Tensor:
    """The imaginary parts, as a view.

    Raises:
        RuntimeError: the tensor is not complex.
    """
    if not x.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    if is_conj(x):
        return neg_view(_view_as_real(conj(x))).select(-1, 1)
    return _imag(x)


@op
def view_as_real(x: Tensor) -> Tensor:
    """Real and imaginary parts along a new last dimension, as a view.

    Raises:
        RuntimeError: the tensor is not complex, or is a conjugate as a view.
    """
    if not x.is_complex():
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if is_conj(x):
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate "
            "tensor so you can view it as real, use self.resolve_conj(); however, be warned that "
            "the resulting tensor will NOT alias the original."
        )
    return _view_as_real(x)


@op
def view_as_complex(x: Tensor) -> Tensor:
    """Complex numbers whose parts lie along the last dimension, as a view.

    Raises:
        RuntimeError: the tensor is not of single or double precision, or its last dimension is
            not of extent 2 with both parts side by side in memory.
    """
    if x._array.dtype.name not in ("float32", "float64"):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {TYPE_NAMES[x.dtype.name]}"
        )
    if x.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if x.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if x.stride(-1) != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(step % 2 for step, extent in zip(x.stride()[:-1], x.shape) if extent != 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if x._level is None and x.storage_offset() % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return _view_as_complex(x)


# ---- numbers made of parts ------------------------------------------------------------------


def _joined(x: Any, y: Any) -> Any:
    """Not ``x + 1j * y``, which makes NaN of an infinite part."""
    out = np.empty_like(x, dtype=np.result_type(x.dtype, np.complex64))
    out.real, out.imag = x, y
    return out


def _pairwise(
    level: BatchLevel, primitive: Any, args: Sequence[Any], params: dict[str, Any]
) -> Tensor:
    """Batch rule of arguments of one shape."""
    out: Tensor = primitive(*[with_examples(level, arg) for arg in args], **params)
    return out


_complex = Primitive(
    "complex",
    _joined,
    (vjp_of(lambda g, _x: real(g)), vjp_of(lambda g, _y: imag(g))),
    kind="linear",
    dtypes=FLOATS,
    batch=_pairwise,
)


@op
def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Numbers with these real and imaginary parts.

    Raises:
        RuntimeError: the dtypes differ, or are neither float32 nor float64.
    """
    dtypes = (real._array.dtype.name, imag._array.dtype.name)
    if any(each not in ("float32", "float64") for each in dtypes):
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{TYPE_NAMES[dtypes[0]]} and {TYPE_NAMES[dtypes[1]]}"
        )
    if dtypes[0] != dtypes[1]:
        raise RuntimeError(
            f"Expected object of scalar type {TYPE_NAMES[dtypes[0]]} but got scalar type "
            f"{TYPE_NAMES[dtypes[1]]} for second argument"
        )
    return _complex(*broadcast_tensors(real, imag))


@op(node="PolarBackward0")
@takes(REAL, "polar")
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Numbers with these magnitudes and phases.

    Raises:
        RuntimeError: the dtypes differ, or are neither float32 nor float64.
    """
    return complex(abs * cos(angle), abs * sin(angle))


# ---- phase ----------------------------------------------------------------------------------


def _phase_of_real(x: Any) -> Any:
    """Half a turn for a negative number; NaN for NaN."""
    return np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(math.pi), x.dtype.type(0)))


def _phase_vjp(g: Tensor, x: Tensor) -> Tensor:
    """Across the direction of x, the less the farther; zero at zero."""
    size = real(x * conjugate(x))
    rate: Tensor = (x * 1j) / size.masked_fill(size == 0, 1)
    return g * rate


_angle = general("angle", lambda x: np.angle(x), _phase_vjp, batch=unchanged)
_angle_of_real = unary("angle", _phase_of_real, 0.0, keeps=("x",))


@op(method=True)
def angle(x: Tensor) -> Tensor:
    """The phase: of a real number 0 or, if it is negative, pi."""
    return _angle(x) if x.is_complex() else _angle_of_real(x)

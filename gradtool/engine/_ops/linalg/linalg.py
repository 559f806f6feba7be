"""Products of vectors, matrices and batches of matrices.

Each is linear in either factor. With G the gradient of X Y, that of X is G Yᴴ and that of Y is
Xᴴ G, where the conjugation is torch's convention for complex numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import lined_up, unchanged
from gradtool.engine._ops.core.dtype_support import (
    NUMBERS,
    TYPE_NAMES,
    not_implemented,
    takes,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import conjugate, linear, multilinear
from gradtool.engine._ops.core.node_names import give_name, saving
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.core.scalars import cpp_name, scalar_for
from gradtool.engine._ops.shape.axes import adjoint as mH  # noqa: N812 - torch's name of the property
from gradtool.engine._ops.shape.expansion import broadcast_shapes
from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._levels import BatchLevel


@ignore_fp_warnings
def _product(x: Any, y: Any) -> Any:
    return np.matmul(x, y)


def _product_rule(
    level: BatchLevel, _primitive: Any, args: Sequence[Any], _params: dict[str, Any]
) -> Tensor:
    return matmul(*lined_up(level, args))


def _mv_rule(
    level: BatchLevel, _primitive: Any, args: Sequence[Any], _params: dict[str, Any]
) -> Tensor:
    """Matrices times a vector: a column for each example."""
    matrices, vector = args
    return matmul(*lined_up(level, (matrices, vector.unsqueeze(-1)))).squeeze(-1)


def _dot_rule(
    level: BatchLevel, _primitive: Any, args: Sequence[Any], _params: dict[str, Any]
) -> Tensor:
    """A row times a column for each example."""
    row, column = args[0].unsqueeze(0), args[1].unsqueeze(1)
    return matmul(*lined_up(level, (row, column))).squeeze((-2, -1))


_mm: Primitive = multilinear(
    "mm",
    _product,
    vjp_of(lambda g, y: _mm(g, mH(y)), lambda g, y: np.matmul(g, y.T)),
    vjp_of(lambda g, x: _mm(mH(x), g), lambda g, x: np.matmul(x.T, g)),
    dtypes=NUMBERS,
    batch=_product_rule,
)
_bmm: Primitive = multilinear(
    "bmm",
    _product,
    vjp_of(lambda g, y: _bmm(g, mH(y)), lambda g, y: np.matmul(g, y.swapaxes(-1, -2))),
    vjp_of(lambda g, x: _bmm(mH(x), g), lambda g, x: np.matmul(x.swapaxes(-1, -2), g)),
    dtypes=NUMBERS,
    batch=_product_rule,
)
_matmul: Primitive = multilinear(
    "matmul",
    _product,
    lambda g, y, x_shape: _matmul(g, mH(y)).sum_to_size(x_shape),
    lambda g, x, y_shape: _matmul(mH(x), g).sum_to_size(y_shape),
    dtypes=NUMBERS,
    batch=_product_rule,
)
_mv: Primitive = multilinear(
    "mv",
    _product,
    vjp_of(lambda g, y: g.unsqueeze(-1) * conjugate(y), lambda g, y: g[..., None] * y),
    vjp_of(
        lambda g, x: _mv(mH(x.reshape(g.numel(), x.shape[-1])), g.reshape(-1)),
        lambda g, x: np.matmul(x.reshape(g.size, x.shape[-1]).T, g.reshape(-1)),
    ),
    dtypes=NUMBERS,
    batch=_mv_rule,
)
_dot = multilinear(
    "dot",
    _product,
    vjp_of(lambda g, y: g * conjugate(y), operator.mul),
    vjp_of(lambda g, x: g * conjugate(x), operator.mul),
    dtypes=NUMBERS,
    batch=_dot_rule,
)
_ignored = linear("ignored", np.zeros_like, lambda g: g * 0, dtypes=NUMBERS, batch=unchanged)
"""What a factor of 0 makes of a tensor, NaN and infinities included."""


@op(method=True)
def mm(x: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices.

    Raises:
        RuntimeError: they are no matrices, or their extents or dtypes do not fit.
    """
    rows, columns = x._array.shape, mat2._array.shape
    if len(rows) != 2:
        raise RuntimeError("self must be a matrix")
    if len(columns) != 2:
        raise RuntimeError("mat2 must be a matrix")
    if rows[1] != columns[0]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({x.shape[0]}x{x.shape[1]} and {mat2.shape[0]}x{mat2.shape[1]})"
        )
    _check_dtypes(x, mat2)
    return _mm(x, mat2)


def _check_dtypes(x: Tensor, y: Tensor, kernel: str = "addmm_impl_cpu_") -> None:
    kind = x._array.dtype
    if kind is y._array.dtype and kind.kind != "b":
        return
    if kind != y._array.dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{cpp_name(x.dtype)} != {cpp_name(y.dtype)}"
        )
    if kind.kind == "b":
        raise not_implemented(kernel, kind)


@op(method=True)
def bmm(x: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of matrices, one by one.

    Raises:
        RuntimeError: they have not three dimensions, or their extents or dtypes do not fit.
    """
    first, second = x._array.shape, mat2._array.shape
    for number, shape in enumerate((first, second), start=1):
        if len(shape) != 3:
            raise RuntimeError(f"batch{number} must be a 3D tensor")
    if second[:2] != (first[0], first[2]):
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{x.shape[0]}, {x.shape[2]}] but got: {list(mat2.shape[:2])}."
        )
    _check_dtypes(x, mat2, "bmm")
    return _bmm(x, mat2)


@op(method=True)
def mv(x: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector.

    Raises:
        IndexError: the matrix has no dimensions.
        RuntimeError: they are none, or their extents or dtypes do not fit.
    """
    ranks = (x._array.ndim, vec._array.ndim)
    if ranks[0] == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if ranks != (2, 1):
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {x.ndim}, {vec.ndim}")
    return _applied(x, vec)


def _applied(matrices: Tensor, vec: Tensor) -> Tensor:
    """The product of each of a batch of matrices with one vector."""
    if matrices._array.shape[-1] != vec._array.shape[0]:
        rows, columns = matrices.numel() // max(matrices.shape[-1], 1), matrices.shape[-1]
        raise RuntimeError(
            f"size mismatch, got input ({rows}), mat ({rows}x{columns}), vec ({vec.shape[0]})"
        )
    _check_dtypes(matrices, vec, "addmv_impl_cpu")
    return _mv(matrices, vec)


@op(method=True)
@takes(NUMBERS, "dot")
def dot(x: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors' elements; complex ones are not conjugated.

    Raises:
        RuntimeError: they are no vectors, or their lengths or dtypes differ.
    """
    if x.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {x.ndim}D and {tensor.ndim}D tensors")
    lengths = (x.shape[0], tensor.shape[0])
    if lengths[0] != lengths[1]:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{lengths[0]}] and src [{lengths[1]}] to "
            f"have the same number of elements, but got {lengths[0]} and {lengths[1]} elements "
            "respectively"
        )
    if x.dtype is not tensor.dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{TYPE_NAMES[x.dtype.name]} and {TYPE_NAMES[tensor.dtype.name]}"
        )
    return _dot(x, tensor)


@op(method=True, node="VdotBackward0")
def vdot(x: Tensor, other: Tensor) -> Tensor:
    """`dot` with the conjugate of the first vector."""
    return dot(conjugate(x), other)


@op(aliases=("ger",), method=True)
def outer(x: Tensor, vec2: Tensor) -> Tensor:
    """The products of each element of one vector with each of another."""
    for name, each in (("self", x), ("vec2", vec2)):
        if each.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {each.ndim}-D")
    products: Tensor = x.unsqueeze(1) * vec2
    return products


@op(method=True)
def matmul(x: Tensor, other: Tensor) -> Tensor:
    """The matrix product; a vector stands for a row on the left, for a column on the right.

    Dimensions before the last two are a batch, and broadcast.

    Raises:
        RuntimeError: a factor has no dimension, or extents or dtypes do not fit.
    """
    for position, each in enumerate((x, other), start=1):
        if not isinstance(each, Tensor):
            raise TypeError(
                f"matmul(): argument {position} must be Tensor, not {type(each).__name__}"
            )
    ranks = (x._array.ndim, other._array.ndim)
    if 0 in ranks:
        raise RuntimeError(
            "both arguments to matmul need to be at least 1D, but they are "
            f"{ranks[0]}D and {ranks[1]}D"
        )
    if ranks == (2, 2):
        return mm(x, other)
    if ranks == (1, 1):
        return dot(x, other)
    if ranks[1] == 1:
        return _named(_applied(x, other), "UnsafeViewBackward0" if ranks[0] > 2 else "")
    if ranks[0] == 1:
        return _named(_applied(other.transpose(-2, -1), x), "SqueezeBackward4")
    return _of_batches(x, other)


def _named(out: Tensor, node: str) -> Tensor:
    if node and out._requires_grad:
        give_name(out, node)
    return out


def _of_batches(x: Tensor, y: Tensor) -> Tensor:
    batch = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    if x.shape[-1] != y.shape[-2]:
        count = prod(batch)
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{count}, {x.shape[-1]}] but got: [{count}, {y.shape[-2]}]."
        )
    _check_dtypes(x, y, "bmm")
    return _matmul(x, y)


# ---- products added to another tensor -------------------------------------------------------


@op(in_place=True, node="AddmmBackward0")
def addmm(x: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * x + alpha * mat1 @ mat2``; with beta 0, `x` is not looked at but for its shape."""
    return _added(x, mm(mat1, mat2), beta, alpha)


@op(in_place=True, node="AddmvBackward0")
def addmv(x: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * x + alpha * mat @ vec``; with beta 0, `x` is not looked at but for its shape."""
    return _added(x, mv(mat, vec), beta, alpha)


@op(in_place=True, node="BaddbmmBackward0")
def baddbmm(x: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * x + alpha * batch1 @ batch2``; with beta 0, `x` only lends its shape."""
    return _added(x, bmm(batch1, batch2), beta, alpha)


@op(in_place=True, node=saving("AddbmmBackward0", batch1="batch2", batch2="batch1"))
def addbmm(x: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * x + alpha * (batch1 @ batch2).sum(0)``; with beta 0, `x` only lends its shape."""
    return _added(x, bmm(batch1, batch2).sum(0, dtype=batch1.dtype), beta, alpha)


@op(in_place=True, node="AddrBackward0")
def addr(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * x + alpha * outer(vec1, vec2)``; with beta 0, `x` only lends its shape."""
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if isinstance(factor, float) and not x.dtype.is_differentiable:
            raise RuntimeError(
                f"For integral input tensors, argument {name} must not be a floating point number."
            )
    return _added(x, outer(vec1, vec2), beta, alpha)


def _added(x: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    if x.dtype is not product.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {x.dtype} and {product.dtype}"
        )
    for factor in (beta, alpha):
        scalar_for(x, factor)
    if not x.dtype.is_differentiable:  # Fractions are cut off, as PyTorch's are.
        whole = bool if x.dtype is _dtypes.bool_ else int
        beta, alpha = whole(beta), whole(alpha)
    addend = x.expand(product.shape)
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        return _ignored(addend) + scaled
    total: Tensor = (addend if beta == 1 else addend * beta) + scaled
    return total

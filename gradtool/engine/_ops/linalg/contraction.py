"""Products of tensors that are made of simpler ones: Kronecker's, chains, cross, distances."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.batching import broadcasting
from gradtool.engine._ops.core.dims import Ints, as_ints, wrap_dim, wrap_dims
from gradtool.engine._ops.core.dtype_support import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    TYPE_NAMES,
    check_taken,
)
from gradtool.engine._ops.core.fp_warnings import ignore_fp_warnings
from gradtool.engine._ops.core.kinds import conjugate, general, unary
from gradtool.engine._ops.core.node_names import node_name, saving
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.creation.creation import eye
from gradtool.engine._ops.linalg.inverses import inv
from gradtool.engine._ops.linalg.linalg import matmul, mm, vdot
from gradtool.engine._ops.linalg.matrices import require_square
from gradtool.engine._ops.reductions.norm import norm
from gradtool.engine._ops.reductions.reduction import added_up
from gradtool.engine._ops.shape.axes import permute
from gradtool.engine._ops.shape.diagonals import tril
from gradtool.engine._ops.shape.expansion import broadcast_tensors
from gradtool.engine._ops.shape.joining import cat
from gradtool.engine._ops.shape.parts import uncounted
from gradtool.engine._tensor import Tensor

# ---- sums of products -----------------------------------------------------------------------


@op
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Summed over the products of so many last and first dimensions, or over those listed.

    A dimension of extent one is summed with the whole of the other's.

    Raises:
        RuntimeError: the dimensions listed do not fit each other.
    """
    of_a, of_b = _contracted(a, b, dims)
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    for at_a, at_b in zip(of_a, of_b):
        if a.shape[at_a] == 1 != b.shape[at_b]:
            b = b.sum(at_b, keepdim=True)
        elif b.shape[at_b] == 1 != a.shape[at_a]:
            a = a.sum(at_a, keepdim=True)
        elif a.shape[at_a] != b.shape[at_b]:
            raise RuntimeError(
                "contracted dimensions need to match, but first has size "
                f"{a.shape[at_a]} in dim {at_a} and second has size {b.shape[at_b]} in dim {at_b}"
            )
    extent = prod([a.shape[dim] for dim in of_a])
    rows = [dim for dim in range(a.ndim) if dim not in of_a]
    columns = [dim for dim in range(b.ndim) if dim not in of_b]
    outer = [a.shape[dim] for dim in rows], [b.shape[dim] for dim in columns]
    product = mm(
        permute(a, (*rows, *of_a)).reshape(prod(outer[0]), extent),
        permute(b, (*of_b, *columns)).reshape(extent, prod(outer[1])),
    )
    return product.reshape([*outer[0], *outer[1]])


def _contracted(a: Tensor, b: Tensor, dims: Any) -> tuple[Ints, Ints]:
    """The dimensions to sum over, of each factor."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return tuple(range(a.ndim - dims, a.ndim)), tuple(range(dims))
    if not isinstance(dims, tuple | list):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
            f"containing two lists, but got dims={dims}"
        )
    of_a, of_b = (as_ints(each) for each in dims)
    if len(of_a) != len(of_b):
        raise RuntimeError("both dimension lists should have same length")
    return wrap_dims(of_a, a.ndim), wrap_dims(of_b, b.ndim)


@op(method=True)
def inner(x: Tensor, other: Tensor) -> Tensor:
    """Summed over the products along the last dimensions; with a number, its multiple."""
    if x.ndim == 0 or other.ndim == 0:
        return x * other
    if x.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(x.shape)} and {list(other.shape)}"
        )
    return tensordot(x, other, ((-1,), (-1,)))


@op(method=True, node="UnsafeViewBackward0")
@of_own_memory
def kron(x: Tensor, other: Tensor) -> Tensor:
    """Each element of the first times the whole second, in its place."""
    rank = max(x.ndim, other.ndim, 1)
    out_rank = max(x.ndim, other.ndim)
    x, other = (_with_rank(each, rank) for each in (x, other))
    shape = [extent * along for extent, along in zip(x.shape, other.shape)]
    spread = uncounted(x.reshape([each for extent in x.shape for each in (extent, 1)]))
    within = uncounted(other.reshape([each for extent in other.shape for each in (1, extent)]))
    return (spread * within).reshape(shape[rank - out_rank :])


def _with_rank(x: Tensor, rank: int) -> Tensor:
    return x.reshape([*[1] * (rank - x.ndim), *x.shape])


@node_name("SumBackward1")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sum of products along a dimension, the first factor conjugated.

    Raises:
        RuntimeError: both are vectors, and not of the same length.
    """
    if not x.dtype.is_differentiable:
        raise RuntimeError(
            "linalg.vecdot: Expected a floating point or complex tensor as input. "
            f"Got {TYPE_NAMES[x.dtype.name]}"
        )
    if x.ndim == y.ndim == 1:
        return vdot(x, y)
    total: Tensor = (conjugate(x) * y).sum(dim)
    return total


# ---- products of several matrices -----------------------------------------------------------


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of a chain of matrices in the cheapest order; its ends may be vectors.

    Raises:
        RuntimeError: there are fewer than two, or extents do not fit.
    """
    if len(tensors) < 2:
        raise RuntimeError("multi_dot(): expected at least 2 tensors but got " + str(len(tensors)))
    first, last = tensors[0], tensors[-1]
    row, column = first.ndim == 1, last.ndim == 1
    chain = [
        first.unsqueeze(0) if row else first,
        *tensors[1:-1],
        last.unsqueeze(1) if column else last,
    ]
    product = _product_of_chain(chain)
    if row:
        product = product.squeeze(0)
    return product.squeeze(-1) if column else product


@op
def chain_matmul(*matrices: Any) -> Tensor:
    """`multi_dot` under its old name; one matrix is returned as it is."""
    given = matrices[0] if isinstance(matrices[0], tuple | list) else matrices
    return multi_dot(given) if len(given) > 1 else given[0]


def _product_of_chain(chain: Sequence[Tensor]) -> Tensor:
    """By the order that dynamic programming finds: of each stretch the best place to cut it."""
    extents = [chain[0].shape[0], *[each.shape[1] for each in chain]]
    best: dict[tuple[int, int], tuple[int, int]] = {
        (at, at + 1): (0, at) for at in range(len(chain))
    }
    for length in range(2, len(chain) + 1):
        for start in range(len(chain) - length + 1):
            end = start + length
            best[start, end] = min(
                (
                    best[start, cut][0] + best[cut, end][0]
                    + extents[start] * extents[cut] * extents[end],
                    cut,
                )
                for cut in range(start + 1, end)
            )  # fmt: skip

    def product(start: int, end: int) -> Tensor:
        if end - start == 1:
            return chain[start]
        cut = best[start, end][1]
        return mm(product(start, cut), product(cut, end))

    return product(0, len(chain))


@op(method=True)
def matrix_power(A: Tensor, n: int) -> Tensor:  # noqa: N803 - torch's name
    """A square matrix multiplied by itself so many times; its inverse if that is negative.

    Raises:
        RuntimeError: it is no square matrix.
    """
    require_square(A, "linalg.matrix_power", of_floats=False)
    if n == 0:
        return tril(A, -A.shape[-1]) + eye(A.shape[-1], dtype=A.dtype, device=A.device)
    base = inv(A) if n < 0 else A
    squares, factors = base, []
    for bit in reversed(bin(abs(n))[2:]):
        if bit == "1":
            factors.append(squares)
        if len(bin(abs(n))) - 2 > len(factors):
            squares = matmul(squares, squares)
    return reduce(matmul, factors)


# ---- of vectors -----------------------------------------------------------------------------


@node_name("LinalgCrossBackward0")
def linalg_cross(x: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross product of vectors of three numbers that lie along a dimension.

    Raises:
        RuntimeError: there are not three, or the tensors have different ranks.
    """
    if x.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    dim = wrap_dim(dim, x.ndim)
    if x.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[dim]} and "
            f"{other.shape[dim]}"
        )
    x, other = broadcast_tensors(x, other)
    rolled = x.roll(-1, dim) * other.roll(-2, dim)
    crossed: Tensor = rolled - x.roll(-2, dim) * other.roll(-1, dim)
    return crossed


@op(method=True, node=saving("LinalgCrossBackward0", x="other", other="x"))
def cross(x: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """`linalg_cross` along a dimension; by default the first one with three elements."""
    if dim is None:
        candidates = [at for at, extent in enumerate(x.shape) if extent == 3]
        if not candidates:
            raise RuntimeError("no dimension of size 3 in input")
        dim = candidates[0]
    return linalg_cross(x, other, dim=dim)


@op(node=saving("CdistBackward0", "x1", "x2", "out"))
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = None) -> Tensor:
    """The p-norm distance of each row of the first from each row of the second.

    Raises:
        RuntimeError: the rows have different lengths, or are not of floating numbers.
    """
    for number, each in enumerate((x1, x2), start=1):
        if each.ndim < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, X{number} got: {each.ndim}D"
            )
    for number, each in enumerate((x1, x2), start=1):
        if not each.is_floating_point():
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, X{number} got: "
                f"{TYPE_NAMES[each.dtype.name]}"
            )
    check_taken(x1, FLOATS, "cdist")
    if x1._array.shape[-1] != x2._array.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if p == 2 or not x1._array.shape[-1]:
        return _euclid(x1, x2, by_product=_by_product(x1, x2, compute_mode))
    return row_distance(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def _by_product(x1: Tensor, x2: Tensor, mode: str | None) -> bool:
    """Return True where PyTorch multiplies matrices, which is fast and loses digits."""
    if mode in ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        return mode == "use_mm_for_euclid_dist"
    return bool(max(x1._array.shape[-2], x2._array.shape[-2]) > 25)


@ignore_fp_warnings
def _euclidean(x1: Any, x2: Any, *, by_product: bool) -> Any:
    if not by_product:
        apart = x1[..., :, None, :] - x2[..., None, :, :]
        apart *= apart
        return np.sqrt(added_up(apart, -1))
    out = np.matmul(x1, x2.swapaxes(-2, -1))
    out *= -2
    out += (x1 * x1).sum(-1)[..., :, None]
    out += (x2 * x2).sum(-1)[..., None, :]
    np.maximum(out, 0, out=out)
    return np.sqrt(out, out=out)


def _euclid_vjp(g: Tensor, x1: Tensor, x2: Tensor, out: Tensor, x1_shape: Any) -> Tensor:
    """The part of `g` for each unit of distance, along the directions; none where rows meet."""
    share = (g / out).masked_fill(out == 0, 0)
    return (x1 * share.sum(-1, keepdim=True) - share @ x2).sum_to_size(x1_shape)


_euclid = general(
    "cdist",
    _euclidean,
    _euclid_vjp,
    lambda g, x1, x2, out, x2_shape: _euclid_vjp(g.mT, x2, x1, out.mT, x2_shape),
    dtypes=FLOATS,
    batch=broadcasting,
)


_differs = unary("differs", lambda x: (x != 0).astype(x.dtype), 0.0, dtypes=FLOATS)


def row_distance(apart: Tensor, p: float) -> Tensor:
    """The p-norm along the last dimension, with a gradient of zeros at p = 0, where it counts."""
    return _differs(apart).sum(-1) if p == 0 else norm(apart, p, -1)


@op
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """Powers of each element from 0 to N - 1 along a new last dimension, the highest first.

    Raises:
        RuntimeError: the tensor has not one dimension, or N is negative.
    """
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    if N is not None and N < 0:
        raise RuntimeError("N must be non-negative.")
    x = x if x.dtype.is_differentiable else x.to(_dtypes.int64)
    columns = _powers(x, x.shape[0] if N is None else N)
    return columns if increasing else columns.flip(-1)


def _powers(x: Tensor, count: int) -> Tensor:
    """Powers of each element along a new last dimension: products of one row, as PyTorch's are."""
    if count == 0:
        return x.new_zeros((*x.shape, 0))
    repeated = x.unsqueeze(-1).expand(*x.shape, count - 1)
    ones = x.new_ones((*x.shape, 1))
    return cat([ones, repeated], -1).cumprod(-1, dtype=None)


def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:  # noqa: N803
    """`vander`, the lowest power first.

    Raises:
        RuntimeError: there are to be fewer than two powers.
    """
    if x.dtype not in INTEGERS | FLOATS | COMPLEX:
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{TYPE_NAMES[x.dtype.name]}"
        )
    x = x if x.ndim else x.reshape(1)
    if (x.shape[-1] if N is None else N) < 2:
        raise RuntimeError("N must be greater than 1.")
    return _powers(x, x.shape[-1] if N is None else N)


# ---- blocks ---------------------------------------------------------------------------------


@op(node="BlockDiagBackward0")
def block_diag(*tensors: Tensor) -> Tensor:
    """The matrix with these on its diagonal, zero elsewhere; a vector is a row.

    Raises:
        RuntimeError: one has more than two dimensions.
    """
    for number, each in enumerate(tensors):
        if each.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{number} has {each.ndim} dimensions"
            )
    blocks = [_with_rank(each, 2) for each in tensors]
    starts = [0]
    for each in blocks:
        starts.append(starts[-1] + each.shape[1])
    rows = [
        cat([_zeros(each, start), each, _zeros(each, starts[-1] - end)], 1)
        for each, (start, end) in zip(blocks, pairwise(starts))
    ]
    return cat(rows)


def _zeros(x: Tensor, columns: int) -> Tensor:
    return x.new_zeros((x.shape[0], columns))

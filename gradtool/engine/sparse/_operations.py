"""Operations on sparse tensors, composed of operations on their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.creation import arange, ones_like, zeros
from gradtool.engine._ops.elementwise.selection import nonzero
from gradtool.engine._ops.reductions.distinct import unique
from gradtool.engine._ops.shape.joining import cat, stack
from gradtool.engine._settings import sparse_coo, sparse_csc, sparse_csr
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor
from gradtool.engine.sparse._tensor import OPERATIONS, Entries, SparseTensor, made, with_values


def _operation(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        OPERATIONS.update(dict.fromkeys(names, function))
        return function

    return declare


# ---- what is stored -------------------------------------------------------------------------


@_operation("coalesce")
def coalesce(x: SparseTensor) -> SparseTensor:
    """Add what is stored for the same place, and put the places in order."""
    held = x._sparse
    if held.is_coalesced:
        return x
    distinct, of_entry = unique(_numbers(held), return_inverse=True)
    values = zeros(len(distinct), *held.values.shape[1:], dtype=x.dtype, device=x.device)
    values = values.index_add(0, of_entry, held.values)
    places = _from_numbers(distinct, held.size[: held.places.shape[0]])
    return made(held._replace(places=places, values=values, is_coalesced=True))


def _numbers(held: Entries) -> Tensor:
    """The number of each place, as those of all places are counted row by row."""
    number = zeros(held.places.shape[1], dtype=_dtypes.int64)
    for index, extent in zip(held.places, held.size, strict=False):
        number = number * extent + index
    return number


def _from_numbers(numbers: Tensor, extents: Any) -> Tensor:
    found = []
    for extent in reversed(extents):
        found.append(numbers % extent)
        numbers = numbers // extent
    return stack(found[::-1]) if found else zeros(0, len(numbers), dtype=_dtypes.int64)


@_operation("is_coalesced")
def is_coalesced(x: SparseTensor) -> bool:
    """Return True where each place is stored once, in order."""
    return x._sparse.is_coalesced


@_operation("indices")
def indices(x: SparseTensor) -> Tensor:
    """The places of a coalesced tensor.

    Raises:
        RuntimeError: It is of another layout, or not coalesced.
    """
    _check_layout(x, "indices", sparse_coo)
    _check_coalesced(x, "indices")
    return x._sparse.places


@_operation("values")
def values(x: SparseTensor) -> Tensor:
    """The values of a tensor that stores each place once.

    Raises:
        RuntimeError: It is not coalesced.
    """
    if x.layout is sparse_coo:
        _check_coalesced(x, "values")
    return x._sparse.values


def _check_coalesced(x: SparseTensor, what: str) -> None:
    if not x._sparse.is_coalesced:
        raise RuntimeError(
            f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first"
        )


def _counts(name: str, layout: Any, dim: int) -> Callable[[SparseTensor], Tensor]:
    """The operation that returns the number of entries before each row or column, and of all."""

    def counts(x: SparseTensor) -> Tensor:
        _check_layout(x, name, layout)
        starts = arange(x.shape[dim] + 1)
        return (x._sparse.places[dim][None, :] < starts[:, None]).sum(1)

    return counts


def _numbers_along(name: str, layout: Any, dim: int) -> Callable[[SparseTensor], Tensor]:
    """The operation that returns the row or column of each entry."""

    def numbers(x: SparseTensor) -> Tensor:
        _check_layout(x, name, layout)
        return x._sparse.places[dim]

    return numbers


def _check_layout(x: SparseTensor, what: str, layout: Any) -> None:
    if x.layout is not layout:
        raise RuntimeError(f"{what} expected the layout {layout}, but got {x.layout}")


OPERATIONS.update(
    {
        "_indices": lambda x: x._sparse.places,
        "_nnz": lambda x: x._sparse.places.shape[1],
        "_values": lambda x: x._sparse.values.detach(),
        "ccol_indices": _counts("ccol_indices", sparse_csc, 1),
        "col_indices": _numbers_along("col_indices", sparse_csr, 1),
        "crow_indices": _counts("crow_indices", sparse_csr, 0),
        "dense_dim": lambda x: x.ndim - x._sparse.places.shape[0],
        "row_indices": _numbers_along("row_indices", sparse_csc, 0),
        "sparse_dim": lambda x: x._sparse.places.shape[0],
    }
)

# ---- other layouts --------------------------------------------------------------------------


@_operation("to_dense")
def to_dense(x: SparseTensor, dtype: Any = None, **_: Any) -> Any:
    """Return a dense tensor of the same elements."""
    held = x._sparse
    dense = zeros(*held.size, dtype=x.dtype, device=x.device)
    dense = dense.index_put(tuple(held.places), held.values, accumulate=True)
    return dense if dtype is None else dense.to(dtype)


@_operation("to_sparse", "to_sparse_coo")
def to_sparse(x: SparseTensor, *_: Any, **__: Any) -> SparseTensor:
    """Return a tensor that stores the place of each entry."""
    return x if x.layout is sparse_coo else coalesce(made(x._sparse._replace(layout=sparse_coo)))


@_operation("to_sparse_csr")
def to_sparse_csr(x: SparseTensor, dense_dim: Any = None) -> SparseTensor:
    """Return a matrix that stores its places compressed by row.

    Raises:
        RuntimeError: It is no matrix.
    """
    if x.ndim != 2:
        raise RuntimeError(
            "Only tensors with two sparse dimensions can be converted to the SparseCsr layout, "
            f"got {x.ndim} sparse dimensions."
        )
    return made(coalesce(x)._sparse._replace(layout=sparse_csr))


def from_dense(x: Tensor) -> SparseTensor:
    """Return a sparse tensor that stores the elements which are not zero."""
    places = nonzero(x.detach()).t()
    return made(Entries(places, x[tuple(places)], Size(x.shape), sparse_coo, True))


# ---- on each entry --------------------------------------------------------------------------


def _by_values(function: Callable[..., Tensor]) -> Callable[..., SparseTensor]:
    """The operation that has a function of each value, which is zero at zero."""
    return lambda x, *args, **kwargs: with_values(x, function(x._sparse.values, *args, **kwargs))


for _name in ("clone", "cpu", "cuda", "detach", "double", "float", "half", "neg", "to"):
    OPERATIONS[_name] = _by_values(getattr(Tensor, _name))
OPERATIONS["__neg__"] = OPERATIONS["neg"]
OPERATIONS["contiguous"] = lambda x: x


def _of_sums(name: str) -> Callable[..., SparseTensor]:
    """The operation that has a function of each sum of values, which is zero at zero."""
    function = getattr(Tensor, name)
    return lambda x, *args: with_values(coalesce(x), function(coalesce(x)._sparse.values, *args))


for _name in ("abs", "pow", "sqrt", "square"):
    OPERATIONS[_name] = _of_sums(_name)


@_operation("mul", "multiply", "__mul__", "__rmul__")
def mul(x: Any, y: Any) -> SparseTensor:
    """Multiply each entry by a number, or by the element of a dense tensor at its place."""
    if not isinstance(x, SparseTensor):
        x, y = y, x
    if isinstance(y, SparseTensor):
        y = to_dense(y)
    if not isinstance(y, Tensor) or y.ndim == 0:
        return with_values(x, x._sparse.values * y)
    x = coalesce(x)
    return with_values(x, x._sparse.values * y.expand(x.shape)[tuple(x._sparse.places)])


@_operation("div", "divide", "true_divide", "__truediv__")
def div(x: SparseTensor, y: Any) -> SparseTensor:
    """Divide each entry by a number."""
    return with_values(x, x._sparse.values / y)


@_operation("add", "__add__")
def add(x: Any, y: Any, *, alpha: Any = 1) -> Any:
    """Add a sparse tensor to one of any layout.

    Raises:
        RuntimeError: A dense tensor is added to a sparse one.
    """
    if not isinstance(x, SparseTensor):
        return _added_to_dense(x, y, alpha)
    if not isinstance(y, SparseTensor):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    one, other = x._sparse, y._sparse
    places = cat([one.places, other.places], 1)
    sums = cat([one.values, other.values * alpha])
    joined = made(one._replace(places=places, values=sums, is_coalesced=False))
    return joined if x.layout is sparse_coo else coalesce(joined)


def _added_to_dense(x: Tensor, y: SparseTensor, alpha: Any = 1) -> Any:
    return x + to_dense(y) * alpha


OPERATIONS["sub"] = OPERATIONS["subtract"] = lambda x, y, *, alpha=1: add(x, y, alpha=-alpha)
OPERATIONS["__sub__"] = lambda x, y: add(x, y, alpha=-1)
OPERATIONS["__radd__"] = lambda x, y: _added_to_dense(y, x)
OPERATIONS["__rsub__"] = lambda x, y: _added_to_dense(y, x, -1)

# ---- on matrices ----------------------------------------------------------------------------


@_operation("transpose", "swapaxes")
def transpose(x: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    """Exchange two sparse dimensions."""
    order = list(range(x.ndim))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    held = x._sparse
    size = Size([held.size[each] for each in order])
    layout = _TRANSPOSED[x.layout] if order[0] else x.layout
    return made(Entries(held.places[order], held.values, size, layout, False))


_TRANSPOSED = {sparse_coo: sparse_coo, sparse_csr: sparse_csc, sparse_csc: sparse_csr}
"""The layout of a matrix whose rows are the columns of another one."""


@_operation("t", "T", "adjoint", "mT")
def t(x: SparseTensor) -> SparseTensor:
    """Transpose a matrix."""
    return transpose(x, -2, -1) if x.ndim == 2 else x


@_operation("mm", "smm")
def mm(x: Any, y: Any) -> Any:
    """Multiply matrices, at least one of them sparse.

    Raises:
        IndexError: One is a vector.
        RuntimeError: The extents do not fit.
    """
    if y.ndim == 1:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    return matmul(x, y)


@_operation("mv")
def mv(x: Any, y: Any) -> Any:
    """Multiply a sparse matrix by a vector.

    Raises:
        RuntimeError: It is no vector, or the extents do not fit.
    """
    if y.ndim != 1:
        raise RuntimeError(
            "mv: two tensor dim should be 2 and 1, but got "
            f"SparseTensor Dim: {x.ndim}Tensor Dim: {y.ndim}"
        )
    return matmul(x, y)


@_operation("matmul", "__matmul__")
def matmul(x: Any, y: Any) -> Any:
    """Multiply matrices, or a matrix by a vector, at least one of them sparse.

    Raises:
        RuntimeError: The extents do not fit.
    """
    if isinstance(x, SparseTensor) and isinstance(y, SparseTensor):
        return _product_of_sparse(x, y)
    if not isinstance(x, SparseTensor):
        return matmul(t(y), x.t() if x.ndim == 2 else x).t()
    if x.shape[1] != y.shape[0]:
        shapes = "x".join(map(str, x.shape)), "x".join(map(str, y.shape))
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({shapes[0]} and {shapes[1]})"
        )
    rows, columns = x._sparse.places
    factors = x._sparse.values if y.ndim == 1 else x._sparse.values[:, None]
    products = factors * y[columns]
    start = zeros(x.shape[0], *y.shape[1:], dtype=products.dtype, device=x.device)
    return start.index_add(0, rows, products)


OPERATIONS["__rmatmul__"] = lambda x, y: matmul(y, x)


def _product_of_sparse(x: SparseTensor, y: SparseTensor) -> SparseTensor:
    """The product of sparse matrices, which stores what entries of both contribute to."""
    product = matmul(x, to_dense(y))
    stored = [with_values(each, ones_like(each._sparse.values.detach())) for each in (x, y)]
    places = nonzero(matmul(stored[0], to_dense(stored[1]))).t()
    return made(Entries(places, product[tuple(places)], Size(product.shape), x.layout, True))


@_operation("addmm")
def addmm(x: Tensor, y: Any, z: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Add the product of two matrices to a dense one."""
    return x * beta + matmul(y, z) * alpha


def sampled_addmm(
    input: SparseTensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0
) -> SparseTensor:
    """Add the product of two dense matrices to a sparse one, where that one stores entries.

    Raises:
        NotImplementedError: the sparse matrix is not compressed by rows.
        RuntimeError: extents do not match.
    """
    if input.layout is not sparse_csr:
        raise NotImplementedError("sampled_addmm: expected a matrix of layout torch.sparse_csr")
    if mat1.shape[-1] != mat2.shape[-2]:
        extents = ["x".join(map(str, each.shape)) for each in (mat1, mat2)]
        raise RuntimeError(
            "sampled_addmm: mat1 and mat2 shapes cannot be multiplied "
            f"({extents[0]} and {extents[1]})"
        )
    rows, columns = input._sparse.places
    product = (mat1[rows] * mat2.t()[columns]).sum(-1)
    return with_values(input, beta * input._sparse.values + alpha * product)


@_operation("sum")
def sum(x: SparseTensor, dim: Any = None, dtype: Any = None) -> Any:
    """Add all elements, or those along some dimensions, which gives a sparse tensor."""
    if dtype is not None:
        x = with_values(x, x._sparse.values.to(dtype))
    if dim is None:
        return x._sparse.values.sum()
    held = x._sparse
    summed = {each % x.ndim for each in ([dim] if isinstance(dim, int) else dim)}
    kept = [each for each in range(x.ndim) if each not in summed]
    size = Size([held.size[each] for each in kept])
    if not kept:
        return x._sparse.values.sum()
    return coalesce(made(Entries(held.places[kept], held.values, size, sparse_coo, False)))

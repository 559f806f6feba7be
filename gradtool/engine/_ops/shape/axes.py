"""Dimensions in another order, tensors turned, raised to more dimensions and gridded."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine._dtypes import int64
from gradtool.engine._ops.core.batching import all_later, changing, one_later
from gradtool.engine._ops.core.dims import (
    Ints,
    as_ints,
    inverse_order,
    one_by_one,
    wrap_dim,
    wrap_dims,
)
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import attribute, op
from gradtool.engine._ops.core.own_memory import of_own_memory
from gradtool.engine._ops.elementwise.conjugates import conj
from gradtool.engine._ops.shape.joining import cat, hstack, stack
from gradtool.engine._ops.shape.parts import tensor_split
from gradtool.engine._tensor import Tensor

# ---- transposes: views -----------------------------------------------------------------------


_transpose = linear(
    "transpose",
    lambda x, *, dim0, dim1: x.swapaxes(dim0, dim1),
    lambda g, dim0, dim1: g.transpose(dim0, dim1),
    is_view=True,
    batch=changing(dim0=one_later, dim1=one_later),
)


def _examples_first(dims: Sequence[int], size: int) -> tuple[int, ...]:
    """Return the order of dimensions in which that of the examples stays the first."""
    return (0, *all_later(dims, size))


_permute = linear(
    "permute",
    lambda x, *, dims: x.transpose(dims),
    lambda g, dims: g.permute(inverse_order(dims)),
    is_view=True,
    batch=changing(dims=_examples_first),
)


@op(aliases=("swapaxes", "swapdims"), method=True, node="TransposeBackward0")
def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    ndim = x._array.ndim
    dim0, dim1 = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    if ndim == 0:
        return _permute(x, dims=())
    return _transpose(x, dim0=dim0, dim1=dim1)


@op(method=True, node="TBackward0")
def t(x: Tensor) -> Tensor:
    """The transpose of a matrix; what has fewer dimensions stays as it is."""
    if x.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return transpose(x, 0, 1) if x.ndim == 2 else _permute(x, dims=tuple(range(x.ndim)))


@op(method=True)
@one_by_one
def permute(x: Tensor, dims: Ints) -> Tensor:
    """The dimensions in the order given."""
    if len(dims) != x.ndim:
        raise RuntimeError(
            "permute: number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of dimensions i.e. input.dim() = {x.ndim} is not equal to "
            f"len(dims) = {len(dims)}"
        )
    wrapped = tuple([wrap_dim(dim, x.ndim) for dim in dims])
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permute(x, dims=wrapped)


@op(aliases=("moveaxis",), method=True)
def movedim(x: Tensor, source: int | Ints, destination: int | Ints) -> Tensor:
    """Some dimensions moved to new places, the others in their order around them."""
    sources, targets = as_ints(source), as_ints(destination)
    if len(sources) != len(targets):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({list(sources)} dims) should contain the same number of dims as destination "
            f"({list(targets)} dims)"
        )
    places = dict(zip(wrap_dims(targets, x.ndim), wrap_dims(sources, x.ndim), strict=True))
    others = iter([dim for dim in range(x.ndim) if dim not in places.values()])
    dims = [places[dim] if dim in places else next(others) for dim in range(x.ndim)]
    out = permute(x, dims)
    if not x.ndim:
        give_name(out, "AliasBackward0")
    return out


@op(method=True)
def adjoint(x: Tensor) -> Tensor:
    """The last two dimensions exchanged, the elements conjugated.

    Raises:
        RuntimeError: it is a vector.
    """
    _require_matrices(x, "adjoint()")
    return conj(transpose(x, -2, -1) if x.ndim else x)


@attribute("T")
def _reversed(x: Tensor) -> Tensor:
    """The property ``T``: the dimensions in reverse order."""
    return _permute(x, dims=tuple(range(x.ndim))[::-1])


@attribute("mT")
def _matrices_transposed(x: Tensor) -> Tensor:
    """The property ``mT``: the last two dimensions exchanged."""
    _require_matrices(x, "mT")
    return transpose(x, -2, -1) if x.ndim else x


@attribute("mH")
def _matrices_adjoint(x: Tensor) -> Tensor:
    """The property ``mH``: `adjoint`."""
    _require_matrices(x, "mH")
    return adjoint(x)


def _require_matrices(x: Tensor, name: str) -> None:
    if x.ndim == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. "
            f"Got {x.ndim}-D tensor."
        )


@attribute("H")
def _matrix_adjoint(x: Tensor) -> Tensor:
    """The property ``H``: the conjugated transpose of a matrix."""
    if x.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {x.ndim}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if x.ndim > 2 else "")
        )
    return adjoint(x) if x.ndim else conj(x)


# ---- flips and rotations ---------------------------------------------------------------------


@op(method=True)
def fliplr(x: Tensor) -> Tensor:
    """Columns in reverse order.

    Raises:
        RuntimeError: there are fewer than two dimensions.
    """
    if x.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return x.flip(1)


@op(method=True)
def flipud(x: Tensor) -> Tensor:
    """Rows in reverse order.

    Raises:
        RuntimeError: the tensor is 0-d.
    """
    if x.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return x.flip(0)


@op(method=True, node="Rot90Backward0")
def rot90(x: Tensor, k: int = 1, dims: Ints | list[int] = (0, 1)) -> Tensor:
    """Turned `k` times by a right angle, from the first of two dimensions to the second.

    Raises:
        RuntimeError: `dims` are not two different dimensions, or the tensor has fewer.
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if x.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {x.ndim}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == x.ndim:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    first, second = wrap_dims(dims, x.ndim)
    turns: dict[int, Callable[[], Tensor]] = {
        0: x.clone,
        1: lambda: x.flip(second).transpose_(first, second),
        2: lambda: x.flip((first, second)),
        3: lambda: x.flip(first).transpose_(first, second),
    }
    return turns[k % 4]()


# ---- more dimensions -------------------------------------------------------------------------


def _at_least(raised: Callable[[Tensor], Tensor], name: str, text: str) -> Callable[..., Any]:
    def each(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return raised(tensors[0])
        given = tensors[0] if len(tensors) == 1 else tensors
        return tuple([raised(tensor) for tensor in given])

    each.__name__ = each.__qualname__ = name
    each.__doc__ = f"Views of the tensors with {text}."
    return each


def _three_dimensions(x: Tensor) -> Tensor:
    return x.unsqueeze(-1) if x.ndim == 2 else x if x.ndim > 2 else x.reshape(1, -1, 1)


atleast_1d = op(
    _at_least(lambda x: x if x.ndim else x.reshape(1), "atleast_1d", "at least one dimension")
)
atleast_2d = op(
    _at_least(
        lambda x: x if x.ndim > 1 else x.unsqueeze(0) if x.ndim else x.reshape(1, 1),
        "atleast_2d",
        "at least two dimensions",
    )
)
atleast_3d = op(_at_least(_three_dimensions, "atleast_3d", "at least three dimensions"))


# ---- joining and splitting along the first three dimensions ----------------------------------


@op
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the third dimension."""
    return cat([_three_dimensions(each) for each in tensors], 2)


@op
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the second dimension, vectors as columns."""
    return hstack([each if each.ndim > 1 else each.reshape(-1, 1) for each in tensors])


def _splitting(name: str, least: int, dim: Callable[[Tensor], int]) -> Callable[..., Any]:
    def split(x: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        if x.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension"
                f"{'s' * (least > 1)}, but got a tensor with {x.ndim} dimensions!"
            )
        extent = x.shape[dim(x)]
        if isinstance(indices_or_sections, int) and extent % indices_or_sections:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim(x)}, but the size of the "
                f"dimension {extent} is not divisible by the split_size {indices_or_sections}!"
            )
        return tensor_split(x, indices_or_sections, dim(x))

    split.__name__ = split.__qualname__ = name
    split.__doc__ = "Views of equal parts, or of the parts between positions."
    return split


hsplit = op(
    _splitting("hsplit", 1, lambda x: 0 if x.ndim == 1 else 1), method=True, node="SliceBackward0"
)
vsplit = op(_splitting("vsplit", 2, lambda _x: 0), method=True, node="SliceBackward0")
dsplit = op(_splitting("dsplit", 3, lambda _x: 2), method=True)


# ---- grids and choices -----------------------------------------------------------------------


@op
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Views of vectors, each along a dimension of its own, in the shape of the grid they span.

    With ``indexing="xy"`` the first two dimensions are exchanged.

    Raises:
        RuntimeError: a tensor has more than one dimension, dtypes differ, or there is no such
            indexing.
    """
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument.",
            UserWarning,
            stacklevel=2,
        )
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for each in given:
        if each.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {each}"
            )
    return _grid([each.reshape(-1) for each in given], swap=indexing == "xy" and len(given) > 1)


def _grid(vectors: Sequence[Tensor], *, swap: bool) -> tuple[Tensor, ...]:
    if len({each.dtype for each in vectors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    shape = [each.numel() for each in vectors]
    last = len(vectors) - 1
    grids = [
        each.reshape([1] * at + [-1] + [1] * (last - at)).expand(shape)
        for at, each in enumerate(vectors)
    ]
    return tuple([each.transpose(0, 1) for each in grids] if swap else grids)


@op
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All choices of one element of each vector, one in each row."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([each.reshape(-1) for each in _grid(tensors, swap=False)], 1)


@op
@of_own_memory
def combinations(x: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of `r` elements of a vector, one in each row, in their order.

    Raises:
        RuntimeError: the tensor is not a vector.
    """
    if x.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.shape)}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = list(choose(range(x.shape[0]), r))
    return x[x.new_tensor(chosen, dtype=int64).reshape(-1)].reshape(len(chosen), r)

"""The dimensions of a tensor in another order: views."""

from __future__ import annotations

from gradtool.engine._ops.core.dims import Ints, as_ints, one_by_one, wrap_dim, wrap_dims
from gradtool.engine._ops.core.kinds import conjugate, linear
from gradtool.engine._tensor import Tensor

_transpose = linear(
    "transpose",
    lambda x, *, dim0, dim1: x.swapaxes(dim0, dim1),
    lambda g, dim0, dim1: g.transpose(dim0, dim1),
    is_view=True,
)
_permute = linear(
    "permute",
    lambda x, *, dims: x.transpose(dims),
    lambda g, dims: g.permute(_inverse(dims)),
    is_view=True,
)


def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    dim0, dim1 = wrap_dim(dim0, x.ndim), wrap_dim(dim1, x.ndim)
    if x.ndim == 0:
        return _permute(x, dims=())
    return _transpose(x, dim0=dim0, dim1=dim1)


swapaxes = swapdims = transpose


def t(x: Tensor) -> Tensor:
    """The transpose of a matrix; what has fewer dimensions stays as it is."""
    if x.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return transpose(x, 0, 1) if x.ndim == 2 else _permute(x, dims=tuple(range(x.ndim)))


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


def _inverse(dims: Ints) -> Ints:
    return tuple(sorted(range(len(dims)), key=dims.__getitem__))


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
    return permute(x, dims)


moveaxis = movedim


def adjoint(x: Tensor) -> Tensor:
    """The last two dimensions exchanged, the elements conjugated.

    Raises:
        RuntimeError: it is a vector.
    """
    _require_matrices(x, "adjoint()")
    conjugated: Tensor = conjugate(transpose(x, -2, -1) if x.ndim else x)
    return conjugated


def _reversed(x: Tensor) -> Tensor:
    """The property ``T``: the dimensions in reverse order."""
    return _permute(x, dims=tuple(range(x.ndim))[::-1])


def _matrices_transposed(x: Tensor) -> Tensor:
    """The property ``mT``: the last two dimensions exchanged."""
    _require_matrices(x, "mT")
    return transpose(x, -2, -1) if x.ndim else x


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


def _matrix_adjoint(x: Tensor) -> Tensor:
    """The property ``H``: the conjugated transpose of a matrix."""
    if x.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {x.ndim}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if x.ndim > 2 else "")
        )
    return adjoint(x) if x.ndim else conjugate(x)


PROPERTIES = {
    "H": _matrix_adjoint,
    "T": _reversed,
    "mH": _matrices_adjoint,
    "mT": _matrices_transposed,
}
"""Attributes of a tensor that are computed by these."""

__all__ = [
    "adjoint", "moveaxis", "movedim", "permute", "swapaxes", "swapdims", "t", "transpose",
]  # fmt: skip

"""The operators: fill what the mask excludes, then apply the operator without a mask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan
from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._dtypes import float32, iinfo, int64
from gradtool.engine._ops.elementwise.selection import where
from gradtool.engine._ops.linalg.norms import vector_norm
from gradtool.engine._tensor import Tensor

DType = _dtypes.dtype
Dims = int | Sequence[int] | None


def sum(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Sum of the selected elements along `dim`, all dimensions by default; integers as int64."""
    filled = fill(input, mask, 0)
    return filled.sum(_dims(dim, input.ndim), bool(keepdim), dtype=dtype or _summed(input.dtype))


def prod(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Product of the selected elements along `dim`; integers as int64."""
    result = fill(input, mask, 1).to(dtype=dtype or _summed(input.dtype))
    for each in reversed(_dims(dim, input.ndim)):
        result = result.prod(dim=each, keepdim=bool(keepdim))
    return result


def cumsum(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """Running sum of the selected elements."""
    dtype = dtype or input.dtype
    return fill(input, mask, 0).cumsum(_dim(dim, input), dtype=dtype).to(dtype=dtype)


def cumprod(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """Running product of the selected elements."""
    dtype = dtype or input.dtype
    return fill(input, mask, 1).cumprod(_dim(dim, input), dtype=dtype).to(dtype=dtype)


def amax(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Largest of the selected elements along `dim`."""
    filled = fill(input, mask, _lowest(input.dtype))
    return filled.amax(_dims(dim, input.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def amin(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Smallest of the selected elements along `dim`."""
    filled = fill(input, mask, _highest(input.dtype))
    return filled.amin(_dims(dim, input.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Position of the largest selected element, in the dtype of `input`, as torch has it."""
    filled = fill(input, mask, _lowest(input.dtype))
    return filled.argmax(dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Position of the smallest selected element, in the dtype of `input`, as torch has it."""
    filled = fill(input, mask, _highest(input.dtype))
    return filled.argmin(dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def mean(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Mean of the selected elements along `dim`; ValueError for an integer or boolean dtype."""
    wanted = dtype or input.dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        source = "Optional" if dtype else "Input"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point "
            f"or complex dtype. Got: {wanted}"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=wanted, mask=mask)
    return total / _count(input, dim, mask, keepdim=bool(keepdim))


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Median of the selected elements; ValueError if integers leave a slice without any."""
    is_float = input.is_floating_point()
    source = input if is_float else input.to(dtype=float32)
    result: Tensor = fill(source, mask, nan).nanmedian(_dim(dim, input), keepdim).values
    if is_float:
        return result
    if result.isnan().any():
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return result.to(dtype=dtype or input.dtype)


def norm(
    input: Tensor, ord: float = 2.0, dim: Dims = None, *, keepdim: bool = False,
    dtype: DType | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Vector norm of order `ord` of the selected elements along `dim`."""
    filled = fill(input, mask, inf if ord == -inf else 0)
    dims = _dims(dim, input.ndim)
    return vector_norm(filled, ord, dims, bool(keepdim), dtype=dtype or input.dtype)


def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Logarithm of the sum of exponentials of the selected elements along `dim`."""
    filled = fill(input, mask, -inf if input.is_complex() else _lowest(input.dtype))
    result = filled.logsumexp(_dims(dim, input.ndim), keepdim=keepdim)
    return result.to(dtype=dtype or input.dtype)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: DType | None = None,
    input_mask: Tensor | None = None, other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Logarithm of the sum of two exponentials, of which a mask excludes some."""
    one = fill(input, input_mask, _lowest(input.dtype))
    two = fill(other, other_mask, _lowest(other.dtype))
    result: Tensor = one.logaddexp(two).to(dtype=dtype or input.dtype)
    return result


def var(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Variance of the selected elements along `dim`, over their number less `correction`."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0.0 if unbiased is False else 1.0
    wanted = dtype or (input.dtype if _is_inexact(input.dtype) else float32)
    computed = wanted if _is_inexact(wanted) else float32
    total = sum(input, dim, keepdim=True, dtype=wanted, mask=mask)
    off = input - total / _count(input, dim, mask, keepdim=True)
    squares = sum(off * off.conj(), dim, keepdim=keepdim, dtype=computed, mask=mask)
    count = _count(input, dim, mask, keepdim=bool(keepdim)).to(computed.to_real())
    result: Tensor = squares / (count - correction).clamp(min=0)
    return result.to(dtype=wanted)


def std(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool = False, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Standard deviation of the selected elements along `dim`: the root of `var`."""
    result = var(
        input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
    )
    return result.sqrt()


def softmax(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """Exponentials of the selected elements over their sum; zero elsewhere."""
    filled = fill(input, mask, _lowest(input.dtype))
    return filled.softmax(_dim(dim, input), dtype=dtype or input.dtype)


def log_softmax(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """Logarithm of `softmax`."""
    filled = fill(input, mask, _lowest(input.dtype))
    return filled.log_softmax(_dim(dim, input), dtype=dtype or input.dtype)


def softmin(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """`softmax` of the negated elements."""
    filled = fill(input, mask, _highest(input.dtype))
    return (-filled).softmax(_dim(dim, input), dtype=dtype or input.dtype)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The selected elements over the larger of their norm and `eps`."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return fill(input, mask, 0) / length.clamp(min=eps)


def fill(input: Tensor, mask: Tensor | None, value: float) -> Tensor:
    """`input` with `value` where `mask`, broadcast to it, is False.

    Raises:
        IndexError: If the mask has more dimensions than `input`.
    """
    if mask is None:
        return input
    return where(_input_mask(input, mask=mask), input, input.new_tensor(value))


def _input_mask(input: Tensor, *args: Any, mask: Tensor, **kwargs: Any) -> Tensor:
    """The mask as booleans of the shape of `input`; takes the arguments of any operator here."""
    if mask.ndim > input.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
            "input)"
        )
    return mask.broadcast_to(input.shape).bool()


def _output_mask(op: Callable[..., Tensor], input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The elements of ``op(input, *args, **kwargs)`` that stem from a selected one."""
    selected = _input_mask(input, *args, **kwargs)
    if op not in REDUCTIONS:
        return selected
    dims = args[1:] if op is norm else args
    dim = dims[0] if dims else kwargs.get("dim")
    return selected.sum(_dims(dim, input.ndim), bool(kwargs.get("keepdim"))) > 0


def _count(input: Tensor, dim: Dims, mask: Tensor | None, *, keepdim: bool) -> Tensor:
    """The number of selected elements along `dim`."""
    ones = input.detach().new_ones(input.shape, dtype=int64)
    return sum(ones, dim, keepdim=keepdim, mask=mask)


def _dims(dim: Dims, ndim: int) -> tuple[int, ...]:
    """Dimensions in increasing order; all of them for None and for none."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    ndim = max(ndim, 1)
    found: list[int] = []
    for each in (dim,) if isinstance(dim, int) else dim:
        if each in found:
            raise RuntimeError(f"dim={each} appears multiple times in the list of dims")
        if not -ndim <= each < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but "
                f"got {each})"
            )
        found.append(each % ndim)
    return tuple(sorted(found))


def _dim(dim: int, input: Tensor) -> int:
    return _dims(dim, input.ndim)[0]


def _is_inexact(dtype: DType) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def _summed(dtype: DType) -> DType:
    """The dtype in which torch sums elements of a dtype."""
    return dtype if _is_inexact(dtype) else int64


def _lowest(dtype: DType) -> float:
    return -inf if dtype.is_floating_point else iinfo(dtype).min


def _highest(dtype: DType) -> float:
    return inf if dtype.is_floating_point else iinfo(dtype).max


REDUCTIONS = (sum, prod, amax, amin, argmax, argmin, mean, median, norm, var, std, logsumexp)

"""Traits that the values of a tensor share, and arrays of another shape that keep them.

A right Function may rely on it: on sorted knots, on rows that sum to one, on distinct indices. So
a trait that an array has is kept in all that is made from it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import msgspec
import numpy as np

from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array

_CLOSE = 1e-6
"""Difference up to which numbers that a user typed or normalized count as equal."""

_ALLCLOSE_RTOL = 1e-5
"""Relative difference that `np.allclose` takes for rounding."""

_SORTED_BY_CHANCE = 4
"""Entries that may be in order by chance."""

_OF_ORDER = {"sorted", "descending", "lower triangular", "upper triangular"}
"""Names of traits that are about the order or the places of entries."""

_FEW_BYTES = 4096
"""Bytes up to which an array is recognized by its contents."""

_SHRINKING = (0.7, 0.98)
"""Factors for numbers that are to stay below any bound that those of the case are below."""


class Trait(msgspec.Struct, frozen=True):
    """A property of an array, and the nearest array that has it."""

    name: str
    holds: Callable[[Array], bool]
    restore: Callable[[Array], Array]
    is_equality: bool = False
    """It leaves no room around an array: all small changes break it."""


def reshaped(array: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Array | None:
    """An array of `shape` with the traits of `array`; None if there is none.

    What an axis gains is like what it begins with, but floating entries are not repeated.
    """
    grows = any(new > old for new, old in zip(shape, array.shape, strict=True))
    if is_permutation(array):
        return _permutation(array, shape)
    if not array.size or (grows and (_is_distinct_index(array) or is_offsets(array))):
        return None
    if any(
        is_permutation_along(array, axis) and old != new
        for axis, (old, new) in enumerate(zip(array.shape, shape, strict=True))
    ):
        return None
    wrapped, is_new = _wrapped(array, shape), np.zeros(array.shape, dtype=bool)
    for axis, (old, new) in enumerate(zip(array.shape, shape, strict=True)):
        at = np.arange(new) % old
        marks = (np.arange(new) >= old).reshape([-1 if a == axis else 1 for a in range(array.ndim)])
        is_new = np.take(is_new, at, axis=axis) | marks
    if grows and is_continuous(array.dtype) and not is_integral(array):
        factor = np.where(is_new, rng.uniform(*_SHRINKING, shape), 1.0)
        wrapped = (wrapped * factor).astype(array.dtype)
    if grows and _is_square(array) and shape[-1] == shape[-2] and not _is_constant(array):
        wrapped = _with_diagonal(wrapped, array)
    return restored(array, wrapped)


def repeated(array: Array, shape: tuple[int, ...], _: np.random.Generator) -> Array:
    """An array of `shape` whose new entries are like its first ones, in order if those are."""
    return restored(array, _wrapped(array, shape))


def _wrapped(array: Array, shape: tuple[int, ...]) -> Array:
    for axis, (old, new) in enumerate(zip(array.shape, shape, strict=True)):
        array = np.take(array, np.arange(new) % old, axis=axis)
    return array


def _with_diagonal(wrapped: Array, model: Array) -> Array:
    """The larger matrix as regular as `model`: its new rows have their weight on the diagonal."""
    old, new = model.shape[-1], wrapped.shape[-1]
    made = wrapped.copy()
    made[..., old:, :] *= 0.25
    made[..., :, old:] *= 0.25
    size = max(float(np.abs(np.einsum("...ii->...i", model)).max()), float(np.abs(model).max()))
    for at in range(old, new):
        made[..., at, at] = size
    return made


def alternating(array: Array, one: float, other: float) -> Array:
    """Return two numbers in turns, in the shape of `array`."""
    return np.where(np.arange(array.size) % 2, other, one).reshape(array.shape)


def redrawn(array: Array, rng: np.random.Generator) -> Array:
    """Other values of the same traits, each of the sign and about the size of one in `array`."""
    factor = rng.uniform(*_SHRINKING, array.shape)
    return restored(array, (array * factor).astype(array.dtype))


def restored(model: Array, array: Array) -> Array:
    """The array with the traits that `model` has."""
    for trait in traits(model):
        if array.size:
            array = trait.restore(array).astype(model.dtype)
    return np.array(array, order="C")


def traits(array: Array) -> list[Trait]:
    """The traits of an array, of those that are known."""
    if array.dtype.kind not in "fciu" or array.size < 2 or not np.isfinite(array).all():
        return []
    if array.nbytes > _FEW_BYTES:
        return _held(array)
    # Those of a case are asked for again and again.
    return _held_by_bytes(array.tobytes(), array.dtype, array.shape)


@lru_cache(maxsize=256)
def _held_by_bytes(values: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> list[Trait]:
    return _held(np.frombuffer(values, dtype).reshape(shape))


def _held(array: Array) -> list[Trait]:
    known = _OF_COMPLEX if array.dtype.kind == "c" else _TRAITS
    with np.errstate(all="ignore"):
        return [trait for trait in known if trait.holds(array)]


def intended_traits(array: Array) -> list[Trait]:
    """The traits of an array, without the order that a few entries have by chance."""
    is_short = array.ndim > 0 and array.shape[-1] <= _SORTED_BY_CHANCE
    return [trait for trait in traits(array) if not is_short or trait.name not in _OF_ORDER]


def may_be_reordered(array: Array) -> bool:
    """Return True if no trait of an array depends on the order or the places of its entries.

    A square matrix with a large diagonal has its eigenvalues near it.
    """
    has_order = any(each.is_equality or each.name in _OF_ORDER for each in traits(array))
    return not has_order and not is_dominated_by_diagonal(array)


def is_dominated_by_diagonal(array: Array) -> bool:
    """Return True for square matrices whose diagonals have most of what their entries add up to."""
    is_square = array.ndim > 1 and array.shape[-1] == array.shape[-2] > 1
    if not is_square or not array.size:
        return False
    sizes = np.abs(array)
    diagonal = np.diagonal(sizes, axis1=-2, axis2=-1)
    return bool((diagonal.sum(-1) > sizes.sum((-2, -1)) / 2).all())


def is_integral(array: Array) -> bool:
    """Return True for floating numbers that are all integers, as labels and counts are."""
    return bool(array.dtype.kind == "f" and array.size and (array == np.round(array)).all())


def is_binary(array: Array) -> bool:
    """Return True for numbers that are all zero or one, as marks and masks are."""
    return bool(np.isin(array, (0, 1)).all())


def is_counted(array: Array, *, is_tracked: bool) -> bool:
    """Return True for floating numbers that may have to be whole, as labels and counts are.

    Of what has a gradient only zeros and ones are marks: others are whole by chance.
    """
    return is_integral(array) and not (is_tracked and np.abs(array).max() > 1)


def _is_constant(array: Array) -> bool:
    return bool((array == array.flat[0]).all())


def is_scalable(array: Array) -> bool:
    """Return False where the scale is part of what the array is."""
    return not any(trait.is_equality and trait.name != "symmetric" for trait in traits(array))


def is_of_both_signs(array: Array) -> bool:
    """Return True for numbers of which some are positive and some negative."""
    return array.dtype.kind == "f" and bool(array.min() < 0 < array.max())


def is_bounded_below(array: Array) -> bool:
    """Return True where all entries are positive and none is near zero, as if by intention."""
    return array.dtype.kind != "c" and bool(array.size and array.min() > 0)


def is_offsets(array: Array) -> bool:
    """Return True for integers from 0 on that ascend further than their number."""
    is_flat = array.dtype.kind in "iu" and array.ndim == 1 and array.size > 1
    return is_flat and not array[0] and bool((np.diff(array) > 0).all() and array[-1] > array.size)


def is_permutation(array: Array) -> bool:
    """Return True for the numbers from 0 on in some order."""
    is_flat = array.dtype.kind in "iu" and array.ndim == 1 and array.size > 1
    return is_flat and bool((np.sort(array) == np.arange(array.size)).all())


def is_permutation_along_some_axis(array: Array) -> bool:
    """Return True for the numbers from 0 on in some order in each row along an axis."""
    return any(is_permutation_along(array, axis) for axis in range(array.ndim))


def is_permutation_along(array: Array, axis: int) -> bool:
    """Return True for the numbers from 0 on in some order in each row along an axis."""
    if array.dtype.kind not in "iu" or array.shape[axis] < 2:
        return False
    moved = np.sort(np.moveaxis(array, axis, -1), axis=-1)
    return bool((moved == np.arange(array.shape[axis])).all())


def _permutation(array: Array, shape: tuple[int, ...]) -> Array:
    (size,) = shape
    kept = array[array < size]
    return np.concatenate([kept, np.arange(array.size, size)]).astype(array.dtype)


def _is_distinct_index(array: Array) -> bool:
    return array.dtype.kind in "iu" and array.size > 2 and len(np.unique(array)) == array.size


# ---- the traits -------------------------------------------------------------------------------


def _is_sorted(array: Array) -> bool:
    if array.ndim == 0 or array.shape[-1] < 2:
        return False
    steps = np.diff(array, axis=-1)
    # Two numbers are sorted by chance half of the time, five hardly ever.
    return bool((steps >= 0).all() and (steps > 0).any() and steps.size >= 2)


def _sorted(array: Array) -> Array:
    return np.sort(array, axis=-1)


def _is_descending(array: Array) -> bool:
    return _is_sorted(-array) if array.dtype.kind == "f" else False


def _descending(array: Array) -> Array:
    return -np.sort(-array, axis=-1)


def _is_one(found: Array) -> bool:
    """Return True for ones but for rounding. `np.allclose` takes thirty times as long."""
    return bool((np.abs(found - 1) <= _CLOSE + _ALLCLOSE_RTOL).all())


def _last_sums_to_one(array: Array) -> bool:
    if array.dtype.kind != "f" or array.ndim == 0 or (array < 0).any():
        return False
    return _is_one(array.sum(axis=-1))


def _summing_to_one(array: Array) -> Array:
    return np.asarray(array / array.sum(axis=-1, keepdims=True))


def _is_log_simplex(array: Array) -> bool:
    if array.dtype.kind != "f" or array.ndim == 0 or (array > 0).any():
        return False
    return _is_one(np.exp(array).sum(axis=-1))


def _log_simplex(array: Array) -> Array:
    return np.asarray(array - np.log(np.exp(array).sum(axis=-1, keepdims=True)))


def _has_unit_rows(array: Array) -> bool:
    return array.dtype.kind == "f" and _has_unit_norms(array)


def _unit_rows(array: Array) -> Array:
    return np.asarray(array / np.linalg.norm(array, axis=-1, keepdims=True))


def _is_square(array: Array) -> bool:
    return array.dtype.kind == "f" and array.ndim >= 2 and array.shape[-1] == array.shape[-2] > 1


def _is_symmetric(array: Array) -> bool:
    return _is_square(array) and bool(np.allclose(array, array.swapaxes(-1, -2), atol=1e-12))


def _symmetric(array: Array) -> Array:
    """The symmetric part; a matrix that is positive definite by its diagonal stays so."""
    if array.shape[-1] != array.shape[-2]:
        return array
    return np.asarray((array + array.swapaxes(-1, -2)) / 2)


def _is_hermitian(array: Array) -> bool:
    is_square = array.ndim >= 2 and array.shape[-1] == array.shape[-2] > 1
    return is_square and bool(np.allclose(array, array.swapaxes(-1, -2).conj(), atol=1e-12))


def _hermitian(array: Array) -> Array:
    if array.shape[-1] != array.shape[-2]:
        return array
    return np.asarray((array + array.swapaxes(-1, -2).conj()) / 2)


def _has_unit_norms(array: Array) -> bool:
    if array.ndim == 0 or array.shape[-1] < 2:
        return False
    return _is_one(np.linalg.norm(array, axis=-1))


def _is_lower(array: Array) -> bool:
    return _is_square(array) and not np.triu(array, 1).any() and bool(np.tril(array, -1).any())


def _is_upper(array: Array) -> bool:
    return _is_square(array) and not np.tril(array, -1).any() and bool(np.triu(array, 1).any())


def _is_unitary(array: Array) -> bool:
    """Return True for what is orthogonal, too."""
    if array.ndim < 2 or not array.shape[-1] == array.shape[-2] > 1:
        return False
    product = array @ array.swapaxes(-1, -2).conj()
    return bool(np.allclose(product, np.eye(array.shape[-1]), atol=_CLOSE))


def _is_orthogonal(array: Array) -> bool:
    return _is_square(array) and _is_unitary(array)


def _unitary(array: Array) -> Array:
    if array.shape[-1] != array.shape[-2]:
        return array
    q: Array = np.linalg.qr(array + 0.1 * np.eye(array.shape[-1]))[0]
    return q


def _is_one_hot(array: Array) -> bool:
    if array.dtype.kind != "f" or array.ndim == 0 or not is_binary(array):
        return False
    return bool((array.sum(axis=-1) == 1).all())


def _one_hot(array: Array) -> Array:
    return np.asarray(np.arange(array.shape[-1]) == array.argmax(axis=-1)[..., None])


_TRAITS = (
    Trait("orthogonal", _is_orthogonal, _unitary, is_equality=True),
    Trait("symmetric", _is_symmetric, _symmetric, is_equality=True),
    Trait("lower triangular", _is_lower, np.tril),
    Trait("upper triangular", _is_upper, np.triu),
    Trait("sums to one", _last_sums_to_one, _summing_to_one, is_equality=True),
    Trait("log-probabilities", _is_log_simplex, _log_simplex, is_equality=True),
    Trait("unit rows", _has_unit_rows, _unit_rows, is_equality=True),
    Trait("one-hot", _is_one_hot, _one_hot, is_equality=True),
    Trait("sorted", _is_sorted, _sorted),
    Trait("descending", _is_descending, _descending),
)

_OF_COMPLEX = (
    Trait("unitary", _is_unitary, _unitary, is_equality=True),
    Trait("Hermitian", _is_hermitian, _hermitian, is_equality=True),
    Trait("unit rows", _has_unit_norms, _unit_rows, is_equality=True),
)

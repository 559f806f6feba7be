"""Families of tensors, in one of which the values of an argument may have to be.

What a condition asks for is not read here: the families are tried, those first of which the
condition or its message speaks. Those whose entries can change a little come before those whose
entries cannot, for only the former show a gradient.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gradtool.cases.inference.guards.ranges import cycled
from gradtool.cases.inference.stand_ins import matrices

Shape = tuple[int, ...]
Array = NDArray[Any]

_DIGITS = 12
"""Digits of entries that are written out: sums of them are 1 to a comparison's tolerance."""


class Family(msgspec.Struct, frozen=True):
    """One kind of values."""

    words: str
    """A pattern of words that speak of it."""
    make: Callable[[Shape], dict[str, Any] | None]
    """Makes the values of a tensor, as a configuration writes them; None for a shape without."""


def family_values(shape: Sequence[int], said: str) -> Iterator[dict[str, Any]]:
    """Yield values for a tensor of a shape, those first of which a text speaks."""
    own = tuple(shape)
    spoken = [each for each in _FAMILIES if re.search(each.words, said, re.IGNORECASE)]
    for family in dict.fromkeys([*spoken, *_FAMILIES]):
        values = family.make(own)
        if values is not None:
            yield values


def _within(low: float, high: float) -> Callable[[Shape], dict[str, Any]]:
    return lambda shape: {"shape": list(shape), "low": low, "high": high}


def _drawn(make: Callable[[Array], Array]) -> Callable[[Shape], dict[str, Any] | None]:
    """A family that is computed from a standard normal array of at least one dimension."""

    def made(shape: Shape) -> dict[str, Any] | None:
        if not shape or 0 in shape:
            return None
        normal = np.random.default_rng([7, *shape]).standard_normal(shape)
        return {"values": np.round(make(normal), _DIGITS).tolist()}

    return made


def _square(kind: str | Callable[[Array], Array]) -> Callable[[Shape], dict[str, Any] | None]:
    """A family of square matrices."""

    def made(shape: Shape) -> dict[str, Any] | None:
        if len(shape) < 2 or 0 in shape:
            return None
        own = (*shape[:-1], shape[-2])
        if isinstance(kind, str):
            return {"values": matrices(kind, own)}
        return _drawn(kind)(own)

    return made


def _discrete(*values: float) -> Callable[[Shape], dict[str, Any] | None]:
    """A family of constants, of which no gradient is asked."""

    def made(shape: Shape) -> dict[str, Any] | None:
        if 0 in shape:
            return None
        listed = cycled(values, list(shape), "float64")
        return {"values": listed, "requires_grad": False}

    return made


def _whole(make: Callable[[int], Array]) -> Callable[[Shape], dict[str, Any] | None]:
    """A family of integers in vectors."""
    return lambda shape: (
        {"values": make(shape[0]).tolist()} if len(shape) == 1 and shape[0] else None
    )


def _ascending(normal: Array) -> Array:
    return np.asarray(np.cumsum(0.25 + np.abs(normal), axis=-1) - normal.shape[-1] / 2.0)


def _ascending_from_zero(normal: Array) -> Array:
    steps = _ascending(normal)
    return steps - steps[..., :1]


def _ascending_to_one(normal: Array) -> Array:
    steps = _ascending_from_zero(normal)
    return steps / np.where(steps[..., -1:] > 0, steps[..., -1:], 1.0)


def _positive(normal: Array) -> Array:
    return np.exp(0.5 * normal)


def _shares(axis: int) -> Callable[[Array], Array]:
    return lambda normal: _positive(normal) / _positive(normal).sum(axis, keepdims=True)


def _of_length_one(axis: int) -> Callable[[Array], Array]:
    return lambda normal: normal / np.linalg.norm(normal, axis=axis, keepdims=True)


def _distances(normal: Array) -> Array:
    symmetric = _positive(normal) + _transposed(_positive(normal))
    return np.asarray(symmetric * (1.0 - np.eye(normal.shape[-1])))


def _transposed(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)


def _correlations(normal: Array) -> Array:
    rows = _of_length_one(-1)(normal + 2.0 * np.eye(normal.shape[-1]))
    return np.asarray(rows @ _transposed(rows))


def _rotations(normal: Array) -> Array:
    orthogonal = np.linalg.qr(normal)[0]
    signs = np.linalg.det(orthogonal)[..., None, None]
    first = np.arange(normal.shape[-1]) == 0
    return np.asarray(np.where(first, orthogonal * signs, orthogonal))


def _doubly_stochastic(normal: Array) -> Array:
    shifts = [np.roll(np.eye(normal.shape[-1]), at, axis=-1) for at in range(normal.shape[-1])]
    weights = 1.0 + np.arange(normal.shape[-1])
    mixed = np.tensordot(weights / weights.sum(), np.array(shifts), axes=1)
    return np.asarray(np.broadcast_to(mixed, normal.shape))


def _diagonal(normal: Array) -> Array:
    return _positive(normal) * np.eye(normal.shape[-1])


def _one_hot(shape: Shape) -> dict[str, Any] | None:
    if not shape or 0 in shape:
        return None
    places = np.arange(np.prod(shape[:-1], dtype=int)) % shape[-1]
    rows = np.eye(shape[-1])[places].reshape(shape)
    return {"values": rows.tolist(), "requires_grad": False}


_FAMILIES = (
    Family(r"positiv|greater|exceed|> ?0", _within(0.5, 1.5)),
    Family(r"probabilit|unit interval|between|fraction|\b0\b.{1,8}\b1\b", _within(0.1, 0.9)),
    Family(r"below one|magnitude|stab|contract", _within(-0.25, 0.25)),
    Family(r"at least (one|1)|> ?1\b", _within(1.5, 2.5)),
    Family(r"negativ|< ?0", _within(-1.5, -0.5)),
    Family(r"sort|order|increas|ascend|monoton|rise", _drawn(_ascending)),
    Family(r"(sort|increas|ascend|monoton).*(positiv|zero|0)", _drawn(_ascending_from_zero)),
    Family(r"(sort|increas|ascend|monoton).*(one|1)", _drawn(_ascending_to_one)),
    Family(r"descend|decreas|fall", _drawn(lambda normal: -_ascending(normal))),
    Family(r"probab|distribut|simplex|stochastic|sum.*(one|1)", _drawn(_shares(-1))),
    Family(r"columns?.*(sum|stochastic)", _drawn(_shares(0))),
    Family(r"sum to one", _drawn(lambda normal: _positive(normal) / _positive(normal).sum())),
    Family(r"\bunit\b|normali[sz]|norm\b", _drawn(_of_length_one(-1))),
    Family(r"columns?.*(unit|norm)", _drawn(_of_length_one(0))),
    Family(
        r"zero mean|cent(er|re)d", _drawn(lambda normal: normal - normal.mean(-1, keepdims=True))
    ),
    Family(r"(?<!skew-)(?<!skew )(?<!anti)(?<!anti-)symmetric|mutual", _square("symmetric")),
    Family(r"definite|covariance|spd\b|psd\b", _square("positive definite")),
    Family(r"skew|anti-?symmetric", _square(lambda normal: normal - _transposed(normal))),
    Family(r"orthogonal|orthonormal|unitary", _square("orthogonal")),
    Family(r"rotation|special", _square(_rotations)),
    Family(r"lower|triang", _square("lower triangular")),
    Family(r"upper", _square(lambda normal: np.triu(normal) + 2.0 * np.eye(normal.shape[-1]))),
    Family(r"diagonal", _square(_diagonal)),
    Family(r"distance|adjacen", _square(_distances)),
    Family(r"correlation", _square(_correlations)),
    Family(r"doubly|assignment|transport", _square(_doubly_stochastic)),
    Family(r"binary|indicator|0 or 1|\{0, 1\}", _discrete(0.0, 1.0)),
    Family(r"sign|spin|-1", _discrete(1.0, -1.0)),
    Family(r"ternary", _discrete(-1.0, 0.0, 1.0)),
    Family(r"count|whole|integ", _discrete(1.0, 2.0, 0.0, 3.0)),
    Family(r"one-?hot", _one_hot),
    Family(r"offset|pointer|start", _whole(lambda count: np.arange(count))),
    Family(r"permut|distinct|unique", _whole(lambda count: np.arange(count)[::-1])),
    Family(r"length|size", _whole(lambda count: 1 + np.arange(count) % 2)),
)
"""All families, the likeliest first."""

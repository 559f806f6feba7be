"""Tensors overwritten with random numbers: ``x.uniform_()``, ``x.normal_()`` and their kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._ops.core.inplace import check_in_place, replace
from gradtool.engine._ops.creation.generators import Generator
from gradtool.engine._ops.creation.random import (
    bernoulli,
    counted_up,
    in_memory_order,
    rand,
    randint,
    randn,
    separate_randn,
)
from gradtool.engine._tensor import Tensor


def uniform_(x: Tensor, *bounds: Any, generator: Generator | None = None, **named: Any) -> Tensor:
    """``x.uniform_(from=0, to=1)``: fill with uniform numbers of [from, to)."""
    low, high = _bounds(bounds, named, (0.0, 1.0))
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
        )
    return _filled(x, rand, generator, scale=high - low, shift=low)


def normal_(
    x: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fill with normal numbers."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    draw = randn if x.is_contiguous() else separate_randn
    return _filled(x, draw, generator, scale=std, shift=mean)


def random_(x: Tensor, *bounds: Any, generator: Generator | None = None, **named: Any) -> Tensor:
    """``x.random_(from=0, to)``: fill with integers of [from, to).

    Without `to`, up to the largest that the dtype counts exactly.
    """
    if len(bounds) == 1 and not named:
        bounds = (0, *bounds)
    low, high = _bounds(bounds, named, (0, None))
    check_in_place(x)
    options: dict[str, Any] = {"device": x.device, "generator": generator}
    if high is None and low == 0:
        long = x.dtype in (_dtypes.int64, _dtypes.float64)
        values = counted_up(x.shape, _counted_up_to(x.dtype), long=long, **options)
    else:
        end = _counted_up_to(x.dtype) if high is None else high
        values = randint(low, end, x.shape, **options)
    return replace(x, values.to(x.dtype))


def _counted_up_to(dtype: _dtypes.dtype) -> int:
    """The end of the integers from 0 on that a dtype holds."""
    if dtype.is_floating_point:
        return int(2 / np.finfo(dtype.numpy).eps) + 1
    return 2 if dtype is _dtypes.bool_ else int(np.iinfo(dtype.numpy).max) + 1


def bernoulli_(x: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones, with a probability that is a number or a tensor of them, and zeros."""
    check_in_place(x)
    if isinstance(p, Tensor):
        return replace(x, bernoulli(p.expand(x.shape), generator=generator).to(x.dtype))
    if x.is_contiguous():
        return replace(x, bernoulli(x, p, generator=generator))
    drawn = in_memory_order(x, lambda size: bernoulli(x.reshape(size), p, generator=generator))
    return replace(x, drawn)


def _bounds(given: Any, named: dict[str, Any], default: tuple[Any, Any]) -> tuple[Any, Any]:
    """(from, to), of which the first is a keyword of Python and cannot be a parameter's name."""
    pair = dict(zip(("from", "to"), default, strict=True)) | named
    pair.update(zip(("from", "to"), given, strict=False))
    return pair["from"], pair["to"]


def _filled(
    x: Tensor, draw: Callable[..., Tensor], generator: Generator | None, scale: Any, shift: Any
) -> Tensor:
    check_in_place(x)
    options = {"dtype": x.dtype, "device": x.device, "generator": generator}
    if x.is_contiguous():
        numbers = draw(x.shape, **options)
    else:
        numbers = in_memory_order(x, lambda size: draw(size, **options))
    return replace(x, numbers * scale + shift)


METHODS: dict[str, Callable[..., Tensor]] = {
    "bernoulli_": bernoulli_, "normal_": normal_, "random_": random_, "uniform_": uniform_,
}  # fmt: skip
"""Methods that have no form as a function."""

__all__: list[str] = []

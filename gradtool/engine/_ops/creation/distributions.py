"""Draws from distributions, many of them in place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._levels.mutation import check_change
from gradtool.engine._levels.randomness import check_draw_over, drawing
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dtype_support import not_implemented
from gradtool.engine._ops.core.inplace import check_in_place, replace
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.creation.generators import Generator, Stream, default_generator
from gradtool.engine._ops.creation.literals import tensor
from gradtool.engine._ops.creation.random import (
    bernoulli,
    counted_up,
    in_memory_order,
    rand,
    randint,
    randn,
    separate_randn,
    without_slope,
)
from gradtool.engine._tensor import Tensor, to_numpy

# ---- counts and choices ----------------------------------------------------------------------


def _source(generator: Generator | None) -> Stream:
    return (generator or default_generator)._source


@op(method=True)
@drawing
def multinomial(
    x: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Positions drawn with chances in proportion to the weights `x`, along its last dimension.

    Raises:
        RuntimeError: the weights are no distribution, or are fewer than what is to be drawn.
    """
    if not x.is_floating_point():
        raise RuntimeError("multinomial only supports floating-point dtypes for input")
    if x.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > x.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    weights = to_numpy(x._array)
    _check_weights(weights)
    source = _source(generator)
    if replacement and num_samples > 1:
        drawn = np.array([_chosen(source, row, num_samples) for row in np.atleast_2d(weights)])
    else:
        drawn = _first_arrivals(source, weights, num_samples)
    return x.new_tensor(drawn.reshape(*x.shape[:-1], num_samples), dtype=_dtypes.int64)


def _check_weights(weights: Any) -> None:
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (weights.sum(-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def _chosen(source: Stream, weights: Any, count: int) -> Any:
    """By inverting the cumulative distribution."""
    below = np.cumsum(weights, dtype=weights.dtype) / weights.sum()
    below[-1] = 1
    return np.searchsorted(below, source.fractions(count))


def _first_arrivals(source: Stream, weights: Any, count: int) -> Any:
    """By exponential races: the first `count` arrivals of each row."""
    times = source.exponentials(weights.size).astype(weights.dtype).reshape(weights.shape)
    return np.argsort(-(weights / times), axis=-1, kind="stable")[..., :count]


@op
@drawing
def poisson(x: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson counts with the means that `x` states.

    Raises:
        RuntimeError: a mean is negative.
    """
    if not x.is_floating_point():
        raise not_implemented("poisson_cpu", x._array.dtype)
    means = to_numpy(x._array)
    if (means < 0).any():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    source = _source(generator)
    counts = [source.poisson(float(mean)) for mean in means.reshape(-1)]
    drawn = x.new_tensor(np.array(counts, np.float64).reshape(means.shape), dtype=x.dtype)
    return without_slope(drawn, "PoissonBackward0", x)


# ---- exponential, Cauchy, geometric and log-normal, in place ---------------------------------


def _fill(
    x: Tensor, name: str, generator: Generator | None, draw: Callable[[Stream, int], Any]
) -> Tensor:
    _check(x, name)
    options = {"dtype": x.dtype, "device": x.device}
    return replace(x, _numbers(draw, x.shape, generator, **options))


def _check(x: Tensor, name: str, *others: Any) -> None:
    """Refuse to draw over a tensor that may not change."""
    check_in_place(x)
    if modes.levels:
        check_draw_over(x)
        check_change(x, name, others)


@drawing
def _numbers(
    draw: Callable[[Stream, int], Any], shape: Any, generator: Generator | None, **options: Any
) -> Tensor:
    drawn = np.asarray(draw(_source(generator), math.prod(shape)))
    return tensor(drawn.reshape(shape), **options)


def exponential(
    size: Any, *, rate: float = 1, generator: Generator | None = None, **options: Any
) -> Tensor:
    """Exponential numbers of a rate, as a new tensor."""
    return _numbers(
        lambda source, count: source.exponentials(count) / rate, size, generator, **options
    )


@method(node="ExponentialBackward0")
def exponential_(x: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with exponential numbers of rate `lambd`."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _fill(
        x, "exponential_", generator, lambda source, count: source.exponentials(count) / lambd
    )


@method(node="CauchyBackward0")
def cauchy_(
    x: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fill with Cauchy numbers."""
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return _fill(
        x,
        "cauchy_",
        generator,
        lambda source, count: np.tan(np.pi * (source.fractions(count) - 0.5)) * sigma + median,
    )


@method(node="GeometricBackward0")
def geometric_(x: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with the number of trials that a success of chance `p` takes."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _fill(
        x,
        "geometric_",
        generator,
        lambda source, count: np.ceil(np.log(source.fractions(count)) / math.log1p(-p)),
    )


@method(node="LogNormalBackward0")
def log_normal_(
    x: Tensor, mean: float = 1, std: float = 2, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers whose logarithm is normal."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return _fill(
        x,
        "log_normal_",
        generator,
        lambda source, count: np.exp(source.separate_normals(count) * std + mean),
    )


# ---- uniform, normal, integers and Bernoulli, in place ---------------------------------------


@method(node="UniformBackward0")
def uniform_(x: Tensor, *bounds: Any, generator: Generator | None = None, **named: Any) -> Tensor:
    """``x.uniform_(from=0, to=1)``: fill with uniform numbers of [from, to)."""
    low, high = _bounds(bounds, named, (0.0, 1.0))
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
        )
    return _filled(x, "uniform_", rand, generator, scale=high - low, shift=low)


@method(node="NormalBackward0")
def normal_(
    x: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fill with normal numbers."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    draw = randn if x.is_contiguous() else separate_randn
    return _filled(x, "normal_", draw, generator, scale=std, shift=mean)


def _random_node(_x: Any, *bounds: Any, **named: Any) -> str:
    count = sum(name in named for name in ("from", "to")) + len(bounds)
    return f"RandomBackward{(2, 1, 0)[count]}"


@method(node=_random_node)
def random_(x: Tensor, *bounds: Any, generator: Generator | None = None, **named: Any) -> Tensor:
    """``x.random_(from=0, to)``: fill with integers of [from, to).

    Without `to`, up to the largest that the dtype counts exactly.
    """
    if len(bounds) == 1 and not named:
        bounds = (0, *bounds)
    low, high = _bounds(bounds, named, (0, None))
    _check(x, "random_")
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
        return int(2 / _dtypes.finfo(dtype).eps) + 1
    return 2 if dtype is _dtypes.bool_ else int(np.iinfo(dtype.numpy).max) + 1


def _bernoulli_node(_x: Any, p: Any = 0.5, **_: Any) -> str:
    return f"BernoulliBackward{1 if isinstance(p, Tensor) else 2}"


@method(node=_bernoulli_node)
def bernoulli_(x: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones, with a probability that is a number or a tensor of them, and zeros."""
    _check(x, "bernoulli_", p)
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
    x: Tensor,
    name: str,
    draw: Callable[..., Tensor],
    generator: Generator | None,
    scale: Any,
    shift: Any,
) -> Tensor:
    _check(x, name)
    options = {"dtype": x.dtype, "device": x.device, "generator": generator}
    if x.is_complex():
        shift = shift * (1 + 1j)
    if x.is_contiguous():
        numbers = draw(x.shape, **options)
    else:
        numbers = in_memory_order(x, lambda size: draw(size, **options))
    return replace(x, numbers * scale + shift)

"""Random tensors of given chances: which of several, how often, how long until."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._levels.randomness import drawing
from gradtool.engine._ops._unsupported import not_implemented
from gradtool.engine._ops.generators import Generator, default_generator
from gradtool.engine._ops.inplace import check_in_place, replace
from gradtool.engine._ops.literals import tensor
from gradtool.engine._tensor import Tensor, to_numpy


def _source(generator: Generator | None) -> Any:
    return (generator or default_generator)._source


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
    rows = np.atleast_2d(to_numpy(x._array).astype(np.float64))
    _check_weights(rows)
    source = _source(generator)
    drawn = [_drawn_from(source, row, num_samples, replacement) for row in rows]
    positions = x.new_tensor(np.array(drawn), dtype=_dtypes.int64)
    return positions if x.ndim == 2 else positions[0]


def _check_weights(rows: Any) -> None:
    if not (np.isfinite(rows) & (rows >= 0)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (rows.sum(-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def _drawn_from(source: Any, weights: Any, count: int, replacement: bool) -> Any:
    """By exponential races: without replacement, the first `count` arrivals."""
    if replacement:
        return source.choice(len(weights), count, p=weights / weights.sum())
    with np.errstate(divide="ignore"):
        arrivals = source.standard_exponential(len(weights)) / weights
    return np.argsort(arrivals, kind="stable")[:count]


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
    return x.new_tensor(_source(generator).poisson(means), dtype=x.dtype)


# ---- in place -------------------------------------------------------------------------------


def _fill(x: Tensor, generator: Generator | None, draw: Callable[[Any], Any]) -> Tensor:
    check_in_place(x)
    return replace(x, _numbers(draw, generator, dtype=x.dtype, device=x.device))


@drawing
def _numbers(draw: Callable[[Any], Any], generator: Generator | None, **options: Any) -> Tensor:
    return tensor(draw(_source(generator)), **options)


def exponential_(x: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with exponential numbers of rate `lambd`."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _fill(x, generator, lambda source: source.exponential(1 / lambd, x.shape))


def cauchy_(
    x: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fill with Cauchy numbers."""
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return _fill(x, generator, lambda source: source.standard_cauchy(x.shape) * sigma + median)


def geometric_(x: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with the number of trials that a success of chance `p` takes."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _fill(x, generator, lambda source: source.geometric(p, x.shape))


def log_normal_(
    x: Tensor, mean: float = 1, std: float = 2, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers whose logarithm is normal."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return _fill(x, generator, lambda source: source.lognormal(mean, std, x.shape))


METHODS: dict[str, Callable[..., Tensor]] = {
    "cauchy_": cauchy_, "exponential_": exponential_, "geometric_": geometric_,
    "log_normal_": log_normal_,
}  # fmt: skip
"""Methods that have no form as a function."""

__all__ = ["multinomial", "poisson"]

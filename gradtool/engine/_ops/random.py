"""Random tensors."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from gradtool.device import moved_to
from gradtool.engine import _dtypes
from gradtool.engine._levels.randomness import drawing
from gradtool.engine._ops._making import as_device, finished, or_default, required_size, size_of
from gradtool.engine._ops._unsupported import not_implemented
from gradtool.engine._ops.generators import Generator, default_for
from gradtool.engine._tensor import Tensor, to_numpy

Draw = Callable[..., Any]


def _drawn(
    draw: Draw,
    *,
    generator: Generator | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    layout: Any = None,
) -> Tensor:
    """A leaf of what `draw` makes of a NumPy generator."""
    place = as_device(device)
    source = (generator or default_for(place))._source
    array = moved_to(place.type, place.index, np.asarray(draw(source)))
    return finished(array, requires_grad=requires_grad, pin_memory=pin_memory)


def _floating(name: str, draw: Callable[[Any, Any, Any], Any], dtype: Any) -> tuple[Any, Any]:
    """How to draw numbers of a floating dtype: those that NumPy lacks as parts or by rounding."""
    kind = or_default(None if dtype is None else _dtypes.as_numpy_dtype(dtype))
    if kind.kind == "c":
        part = kind.type(0).real.dtype
        return kind, lambda source, size: draw(source, size, part) + 1j * draw(source, size, part)
    if kind.kind != "f":
        raise not_implemented(name, kind)
    drawn = np.dtype(np.float32) if kind.itemsize < 4 else kind
    return kind, lambda source, size: draw(source, size, drawn)


@drawing
def rand(*given: Any, size: Any = None, dtype: Any = None, **options: Any) -> Tensor:
    """Uniform numbers in [0, 1)."""
    kind, draw = _floating("rand", lambda source, *how: source.random(*how), dtype)
    extents = required_size("rand", given, size)
    return _drawn(lambda source: draw(source, extents).astype(kind), **options)


@drawing
def randn(*given: Any, size: Any = None, dtype: Any = None, **options: Any) -> Tensor:
    """Standard normal numbers; complex ones have variance 1 in all."""
    kind, draw = _floating("randn", lambda source, *how: source.standard_normal(*how), dtype)
    extents = required_size("randn", given, size)
    scale = 0.5**0.5 if kind.kind == "c" else 1
    return _drawn(lambda source: (draw(source, extents) * scale).astype(kind), **options)


@drawing
def randint(*bounds: Any, dtype: Any = None, **options: Any) -> Tensor:
    """``randint(low, high, size)``: integers in [low, high), where `low` is 0 unless given."""
    given = [*bounds]
    size = options.pop("size") if "size" in options else given.pop()
    high = options.pop("high") if "high" in options else given.pop()
    low = options.pop("low") if "low" in options else (given.pop() if given else 0)
    if index(low) >= index(high):
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    kind = np.int64 if dtype is None else _dtypes.as_numpy_dtype(dtype)
    extents = size_of("randint", (size,))
    return _drawn(lambda source: source.integers(low, high, extents).astype(kind), **options)


@drawing
def randperm(n: int, *, dtype: Any = None, **options: Any) -> Tensor:
    """The numbers from 0 to n - 1 in random order."""
    (count,) = size_of("randperm", (n,))
    kind = np.int64 if dtype is None else _dtypes.as_numpy_dtype(dtype)
    return _drawn(lambda source: source.permutation(count).astype(kind), **options)


@drawing
def bernoulli(x: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """Ones with the probability that `x` states, or `p`, else zeros.

    Raises:
        RuntimeError: a probability is not in [0, 1].
    """
    if p is None and not x.is_floating_point():
        raise not_implemented("bernoulli", x._array.dtype)
    chances = to_numpy(x._array) if p is None else np.full(x.shape, p)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise RuntimeError("bernoulli expects probabilities p with 0 <= p <= 1")
    return _drawn(
        lambda source: (source.random(chances.shape) < chances).astype(x.dtype.numpy),
        generator=generator,
        device=x.device,
    )


@drawing
def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, dtype: Any = None, **options: Any
) -> Tensor:
    """Normal numbers with a mean and a standard deviation, each a number or a tensor.

    Raises:
        RuntimeError: a standard deviation is negative.
    """
    tensors = [each for each in (mean, std) if isinstance(each, Tensor)]
    if tensors:
        dtype, options["device"] = tensors[0].dtype, tensors[0].device
    center, spread = (
        to_numpy(each._array) if isinstance(each, Tensor) else each for each in (mean, std)
    )
    if np.any(np.asarray(spread) < 0):
        found = "" if isinstance(std, Tensor) else f", but found std {std}"
        raise RuntimeError(f"normal expects all elements of std >= 0.0{found}")
    shape = np.broadcast_shapes(np.shape(center), np.shape(spread))
    extents = shape if size is None else size_of("normal", (size,))
    standard = randn(extents, dtype=dtype, **options)
    return finished((standard._array * spread + center).astype(standard._array.dtype))


def _like(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The form of a function that takes size, dtype and device from a tensor."""

    def draw(x: Tensor, *bounds: Any, **options: Any) -> Tensor:
        options.pop("memory_format", None)
        options["dtype"] = options.get("dtype") or x.dtype
        options["device"] = options.get("device") or x.device
        return make(*bounds, **options, size=tuple(x.shape))

    draw.__name__ = draw.__qualname__ = f"{make.__name__}_like"
    draw.__doc__ = f"`{make.__name__}` in the size and, unless given, the dtype of a tensor."
    return draw


rand_like, randn_like, randint_like = _like(rand), _like(randn), _like(randint)

__all__ = [
    "bernoulli", "normal", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like",
    "randperm",
]  # fmt: skip

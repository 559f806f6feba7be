"""Random tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from gradtool.device import moved_to
from gradtool.engine import _dtypes
from gradtool.engine._levels.randomness import drawing
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.dims import Ints
from gradtool.engine._ops.core.dtype_support import not_implemented
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import op
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._ops.creation.generators import Generator, Stream, default_for
from gradtool.engine._ops.creation.literals import (
    as_device,
    finished,
    or_default,
    required_size,
    size_of,
)
from gradtool.engine._ops.shape.joining import cat
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
    """A leaf of what `draw` makes of a stream of random numbers."""
    place = as_device(device)
    source = (generator or default_for(place))._source
    array = moved_to(place.type, place.index, np.asarray(draw(source)))
    return finished(array, requires_grad=requires_grad, pin_memory=pin_memory)


def _floating(name: str, draw: Callable[[Stream, int, Any], Any], dtype: Any) -> tuple[Any, Draw]:
    """A floating dtype, and how to draw an array of it.

    Complex numbers are drawn part by part, half precision by rounding.
    """
    kind = or_default(None if dtype is None else _dtypes.as_numpy_dtype(dtype))
    if kind.kind not in "fcV":
        raise not_implemented(name, kind)
    part = np.dtype(np.float64) if kind in (np.float64, np.complex128) else np.dtype(np.float32)

    def drawn(source: Stream, extents: Ints) -> Any:
        count = math.prod(extents)
        if kind.kind == "c":
            return draw(source, 2 * count, part).view(kind).reshape(extents)
        return draw(source, count, part).astype(kind).reshape(extents)

    return kind, drawn


@op
@drawing
def rand(*given: Any, size: Any = None, dtype: Any = None, **options: Any) -> Tensor:
    """Uniform numbers in [0, 1)."""
    _, draw = _floating("rand", Stream.fractions, dtype)
    extents = required_size("rand", given, size)
    return _drawn(lambda source: draw(source, extents), **options)


@op
@drawing
def randn(*given: Any, size: Any = None, dtype: Any = None, **options: Any) -> Tensor:
    """Standard normal numbers; complex ones have variance 1 in all."""
    kind, draw = _floating("randn", Stream.normals, dtype)
    extents = required_size("randn", given, size)
    scale = kind.type(0.5**0.5 if kind.kind == "c" else 1)
    return _drawn(lambda source: draw(source, extents) * scale, **options)


@op
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
    count = math.prod(extents)
    return _drawn(
        lambda source: source.integers(low, high, count).astype(kind).reshape(extents), **options
    )


@drawing
def counted_up(size: Any, end: int, *, long: bool, **options: Any) -> Tensor:
    """Integers of [0, end), each the remainder of a word of 64 bits, or else of 32."""
    count = math.prod(size)

    def draw(source: Stream) -> Any:
        words = source.long_words(count) if long else source.words(count)
        return (words % np.uint64(end)).astype(np.int64).reshape(size)

    return _drawn(draw, **options)


@op
@drawing
def randperm(n: int, *, dtype: Any = None, **options: Any) -> Tensor:
    """The numbers from 0 to n - 1 in random order."""
    (count,) = size_of("randperm", (n,))
    kind = np.int64 if dtype is None else _dtypes.as_numpy_dtype(dtype)
    return _drawn(lambda source: source.permutation(count).astype(kind), **options)


@op(method=True)
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
    kind = np.float32 if p is None and x.dtype.numpy != np.float64 else np.float64
    drawn = _drawn(
        lambda source: (
            source.fractions(chances.size, kind).reshape(chances.shape) < chances
        ).astype(x.dtype.numpy),
        generator=generator,
        device=x.device,
    )
    return drawn if p is not None else without_slope(drawn, "BernoulliBackward0", x)


def without_slope(drawn: Tensor, name: str, *parameters: Any) -> Tensor:
    """The numbers drawn, as a constant of the tensors that they were drawn with."""
    if modes.grad:
        constant_of.record_needed(parameters, {}, drawn)
        if drawn._node is not None:
            give_name(drawn, name)
    return drawn


constant_of: Primitive = Primitive(
    "constant_of",
    lambda x, y: np.zeros(np.broadcast_shapes(x.shape, y.shape), x.dtype),
    (
        vjp_of(lambda g, x_shape: g.new_zeros(x_shape)),
        vjp_of(lambda g, y_shape: g.new_zeros(y_shape)),
    ),
    kind="general",
)
"""A constant, of what it was drawn with."""


@op
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
    made = finished((standard._array * spread + center).astype(standard._array.dtype))
    number = 2 * isinstance(std, Tensor) + isinstance(mean, Tensor)
    return without_slope(made, f"NormalBackward{number}", mean, std)


def separate_randn(size: Any, **options: Any) -> Tensor:
    """`randn` number by number, which takes others from the stream: for what has gaps."""
    numbers = [randn(1, **options) for _ in range(math.prod(size))]
    drawn: Tensor = cat(numbers).reshape(size) if numbers else randn(size, **options)
    return drawn


def in_memory_order(x: Tensor, draw: Callable[[Any], Tensor]) -> Tensor:
    """Numbers in the shape of `x`, drawn in the order in which its elements lie in memory."""
    strides = x.stride()
    order = sorted(range(x.ndim), key=lambda dim: -strides[dim])
    drawn = draw([x.shape[dim] for dim in order])
    return drawn.permute([order.index(dim) for dim in range(x.ndim)])


def _like(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The form of a function that takes size, dtype and device from a tensor."""

    def draw(x: Tensor, *bounds: Any, **options: Any) -> Tensor:
        options.pop("memory_format", None)
        options["dtype"] = options.get("dtype") or x.dtype
        options["device"] = options.get("device") or x.device
        if x.is_contiguous():
            return make(*bounds, **options, size=tuple(x.shape))
        each: Callable[..., Tensor] = separate_randn if make is randn else make
        return in_memory_order(x, lambda size: each(*bounds, **{**options, "size": size}))

    draw.__name__ = draw.__qualname__ = f"{make.__name__}_like"
    draw.__doc__ = f"`{make.__name__}` in the size and, unless given, the dtype of a tensor."
    return draw


rand_like = op(_like(rand))
randn_like = op(_like(randn))
randint_like = op(_like(randint))

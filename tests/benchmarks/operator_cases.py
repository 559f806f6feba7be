"""Operators that stand for their families, each with inputs of about a given number of elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Arrays = tuple[np.ndarray, ...]
Run = Callable[..., Any]


class Operator(NamedTuple):
    """One operator: `run` takes the library, its module of functions and the inputs."""

    name: str
    inputs: Callable[[int], Arrays]
    run: Run
    bare: Run | None = None
    """The same in NumPy, of the same inputs, where one statement does it."""


def _random(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers between 0.1 and 0.9, where all of the operators are smooth."""
    return np.random.default_rng(seed).uniform(0.1, 0.9, shape)


def _flat(size: int) -> Arrays:
    return (_random(size),)


def _two(size: int) -> Arrays:
    return _random(size), _random(size, seed=1)


def _signed(size: int) -> Arrays:
    return (_random(size) * 4 - 2,)


def _rows(size: int) -> Arrays:
    return (_random(size // 100, 100),)


def _picked(size: int) -> Arrays:
    places = np.random.default_rng(2).integers(0, size // 100, (size // 100, 100))
    return _random(size // 100, 100), places


def _row_places(size: int) -> Arrays:
    return _random(size // 100, 100), np.random.default_rng(2).integers(0, size // 100, size // 100)


def _classes(size: int) -> Arrays:
    return _random(size // 100, 100), np.random.default_rng(2).integers(0, 100, size // 100)


def _mask(size: int) -> Arrays:
    return *_two(size), _random(size, seed=2) > 0.5


def _square(size: int) -> Arrays:
    side = math.isqrt(size)
    return (_random(side, side) + side * np.eye(side),)


def _squares(size: int) -> Arrays:
    return *_square(size), _random(math.isqrt(size), math.isqrt(size), seed=1)


def _batch(size: int) -> Arrays:
    return _random(size // 100, 10, 10), _random(size // 100, 10, 10, seed=1)


def _small_systems(size: int) -> Arrays:
    return (_random(size // 25, 5, 5) + 5 * np.eye(5),)


def _image(size: int) -> Arrays:
    side = 16 if size < 10_000 else 64
    return (_random(1, size // side**2, side, side),)


def _filtered(size: int) -> Arrays:
    (image,) = _image(size)
    return image, _random(8, image.shape[1], 3, 3, seed=1)


def _signal(size: int) -> Arrays:
    return _random(1, 10, size // 10), _random(8, 10, 5, seed=1)


def _points(size: int) -> Arrays:
    count = size // 100
    return _random(count, 10), _random(count, 10, seed=1)


def _triple(size: int) -> Arrays:
    return *_two(size), _random(size, seed=2)


def _words(size: int) -> Arrays:
    return np.random.default_rng(2).integers(0, 100, size // 10), _random(100, 10)


def _matrix_vector(size: int) -> Arrays:
    side = math.isqrt(size)
    return _random(side, side), _random(side, seed=1)


def _named(name: str, inputs: Callable[[int], Arrays], bare: Run | None = None) -> Operator:
    """An operator that is called by its name in the library, with its inputs only."""
    return Operator(name, inputs, lambda lib, f, *x: getattr(lib, name)(*x), bare)


def _layer(name: str, inputs: Callable[[int], Arrays], *more: Any, **options: Any) -> Operator:
    """A function of `torch.nn.functional` by its name."""
    return Operator(name, inputs, lambda lib, f, *x: getattr(f, name)(*x, *more, **options))


OPERATORS: Sequence[Operator] = (
    _named("exp", _flat, np.exp),
    _named("log", _flat, np.log),
    _named("sin", _flat, np.sin),
    _named("tanh", _flat, np.tanh),
    _named("sqrt", _flat, np.sqrt),
    _named("abs", _signed, np.abs),
    _named("sigmoid", _signed, lambda x: 1 / (1 + np.exp(-x))),
    _named("erf", _signed),
    _named("lgamma", _flat),
    Operator("clamp", _signed, lambda lib, f, x: x.clamp(-1, 1), lambda x: x.clip(-1, 1)),
    _named("add", _two, np.add),
    _named("mul", _two, np.multiply),
    _named("div", _two, np.divide),
    _named("pow", _two, np.power),
    _named("atan2", _two, np.arctan2),
    _named("maximum", _two, np.maximum),
    Operator(
        "where",
        _mask,
        lambda lib, f, x, y, m: lib.where(m, x, y),
        lambda x, y, m: np.where(m, x, y),
    ),
    _named("sum", _flat, np.sum),
    Operator("sum(-1)", _rows, lambda lib, f, x: x.sum(-1), lambda x: x.sum(-1)),
    Operator("mean(0)", _rows, lambda lib, f, x: x.mean(0), lambda x: x.mean(0)),
    Operator("var(-1)", _rows, lambda lib, f, x: x.var(-1), lambda x: x.var(-1, ddof=1)),
    Operator("prod(-1)", _rows, lambda lib, f, x: x.prod(-1), lambda x: x.prod(-1)),
    Operator("amax(-1)", _rows, lambda lib, f, x: x.amax(-1), lambda x: x.max(-1)),
    Operator(
        "logsumexp(-1)",
        _rows,
        lambda lib, f, x: x.logsumexp(-1),
        lambda x: np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1)),
    ),
    Operator("cumsum(-1)", _rows, lambda lib, f, x: x.cumsum(-1), lambda x: x.cumsum(-1)),
    Operator("cumprod(-1)", _rows, lambda lib, f, x: x.cumprod(-1), lambda x: x.cumprod(-1)),
    Operator(
        "cummax(-1)",
        _rows,
        lambda lib, f, x: x.cummax(-1)[0],
        lambda x: np.maximum.accumulate(x, -1),
    ),
    Operator(
        "sort", _rows, lambda lib, f, x: x.sort(-1)[0], lambda x: np.argsort(x, -1, kind="stable")
    ),
    Operator(
        "topk(10)", _rows, lambda lib, f, x: x.topk(10)[0], lambda x: np.argpartition(x, -10, -1)
    ),
    Operator("x[rows]", _row_places, lambda lib, f, x, i: x[i], lambda x, i: x[i]),
    Operator("x[:, ::2]", _rows, lambda lib, f, x: x[:, ::2]),
    Operator(
        "gather(0)",
        _picked,
        lambda lib, f, x, i: x.gather(0, i),
        lambda x, i: np.take_along_axis(x, i, 0),
    ),
    Operator("scatter_add(0)", _picked, lambda lib, f, x, i: x.scatter_add(0, i, x)),
    Operator(
        "index_select(0)",
        _row_places,
        lambda lib, f, x, i: x.index_select(0, i),
        lambda x, i: x.take(i, 0),
    ),
    Operator("masked_fill", _mask, lambda lib, f, x, y, m: x.masked_fill(m, 0.0)),
    Operator("cat", _two, lambda lib, f, *x: lib.cat(x), lambda *x: np.concatenate(x)),
    Operator("matmul", _squares, lambda lib, f, x, y: x @ y, lambda x, y: x @ y),
    Operator("bmm", _batch, lambda lib, f, x, y: lib.bmm(x, y), lambda x, y: x @ y),
    Operator("einsum", _batch, lambda lib, f, x, y: lib.einsum("bij,bkj->bik", x, y)),
    Operator("linalg.inv", _square, lambda lib, f, x: lib.linalg.inv(x), np.linalg.inv),
    Operator(
        "linalg.solve", _squares, lambda lib, f, x, y: lib.linalg.solve(x, y), np.linalg.solve
    ),
    Operator("linalg.det 5x5", _small_systems, lambda lib, f, x: lib.linalg.det(x), np.linalg.det),
    Operator("linalg.qr 5x5", _small_systems, lambda lib, f, x: lib.linalg.qr(x)[0], np.linalg.qr),
    Operator(
        "cholesky 5x5",
        _small_systems,
        lambda lib, f, x: lib.linalg.cholesky(x + x.mT),
        lambda x: np.linalg.cholesky(x + x.mT),
    ),
    _layer("softmax", _rows, dim=-1),
    _layer("log_softmax", _rows, dim=-1),
    _layer("relu", _signed),
    _layer("leaky_relu", _signed),
    _layer("gelu", _signed),
    _layer("silu", _signed),
    _layer("hardswish", _signed),
    _layer("softplus", _signed),
    _layer("layer_norm", _rows, (100,)),
    Operator("batch_norm", _image, lambda lib, f, x: f.batch_norm(x, None, None, training=True)),
    _layer("group_norm", _image, 1),
    _layer("mse_loss", _two),
    _layer("cross_entropy", _classes),
    _layer("binary_cross_entropy", _two),
    _layer("conv1d", _signal),
    _layer("conv2d", _filtered),
    _layer("max_pool2d", _image, 2),
    _layer("avg_pool2d", _image, 2),
    Operator("pad(reflect)", _image, lambda lib, f, x: f.pad(x, (1, 1, 1, 1), mode="reflect")),
    Operator(
        "interpolate(bilinear)",
        _image,
        lambda lib, f, x: f.interpolate(x, scale_factor=2, mode="bilinear"),
    ),
    _named("log1p", _flat, np.log1p),
    _named("expm1", _flat, np.expm1),
    _named("cos", _flat, np.cos),
    _named("atan", _flat, np.arctan),
    _named("asin", _flat, np.arcsin),
    _named("cosh", _flat, np.cosh),
    _named("rsqrt", _flat, lambda x: 1 / np.sqrt(x)),
    _named("reciprocal", _flat, np.reciprocal),
    _named("square", _flat, np.square),
    _named("neg", _flat, np.negative),
    _named("sign", _signed, np.sign),
    _named("floor", _signed, np.floor),
    _named("sub", _two, np.subtract),
    _named("minimum", _two, np.minimum),
    _named("hypot", _two, np.hypot),
    _named("logaddexp", _two, np.logaddexp),
    _named("lerp", _triple, lambda x, y, w: x + w * (y - x)),
    _named("addcmul", _triple, lambda x, y, z: x + y * z),
    Operator("mean", _flat, lambda lib, f, x: x.mean(), np.mean),
    Operator("std(-1)", _rows, lambda lib, f, x: x.std(-1), lambda x: x.std(-1, ddof=1)),
    Operator("max(-1)", _rows, lambda lib, f, x: x.max(-1)[0], lambda x: x.max(-1)),
    Operator("amin(0)", _rows, lambda lib, f, x: x.amin(0), lambda x: x.min(0)),
    Operator("norm(-1)", _rows, lambda lib, f, x: x.norm(dim=-1)),
    Operator(
        "median(-1)", _rows, lambda lib, f, x: x.median(-1)[0], lambda x: np.median(x, axis=-1)
    ),
    Operator(
        "logcumsumexp(-1)",
        _rows,
        lambda lib, f, x: x.logcumsumexp(-1),
        lambda x: np.logaddexp.accumulate(x, -1),
    ),
    Operator("reshape", _rows, lambda lib, f, x: x.reshape(-1)),
    Operator("transpose", _rows, lambda lib, f, x: x.transpose(0, 1)),
    Operator("flip", _rows, lambda lib, f, x: x.flip(-1)),
    Operator("roll", _rows, lambda lib, f, x: x.roll(3, -1), lambda x: np.roll(x, 3, -1)),
    Operator("tril", _square, lambda lib, f, x: x.tril(), np.tril),
    Operator("stack", _two, lambda lib, f, *x: lib.stack(x), lambda *x: np.stack(x)),
    Operator(
        "expand",
        _matrix_vector,
        lambda lib, f, x, y: y.expand(len(y), -1).clone(),
        lambda x, y: np.broadcast_to(y, x.shape).copy(),
    ),
    Operator("mv", _matrix_vector, lambda lib, f, x, y: lib.mv(x, y), lambda x, y: x @ y),
    Operator("outer", _matrix_vector, lambda lib, f, x, y: lib.outer(y, y)),
    Operator("cdist", _points, lambda lib, f, x, y: lib.cdist(x, y)),
    Operator("fft.rfft", _rows, lambda lib, f, x: lib.fft.rfft(x).abs()),
    Operator("linear", _squares, lambda lib, f, x, y: f.linear(x, y), lambda x, y: x @ y.T),
    Operator("embedding", _words, lambda lib, f, i, x: f.embedding(i, x), lambda i, x: x[i]),
    _layer("elu", _signed),
    _layer("mish", _signed),
    _layer("logsigmoid", _signed),
    _layer("hardtanh", _signed),
    _layer("smooth_l1_loss", _two),
    _layer("normalize", _rows),
    _layer("unfold", _image, 3),
    _layer("pixel_shuffle", lambda size: (_random(1, 4, 1, size // 4),), 2),
)

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
)

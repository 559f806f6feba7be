"""Whatever the shape, a linear operation and its gradient are each other's transposes.

For a linear A with transpose B, the inner products (A x, y) and (x, B y) are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import array_shapes, basic_indices, mutually_broadcastable_shapes

import gradtool.engine as engine

some = settings(max_examples=40, deadline=None)
SHAPES = array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)


def check_transpose(operation: Callable[[Any], Any], shape: tuple[int, ...], seed: int) -> Any:
    """Assert that the gradient is the transpose, and return the output."""
    rng = np.random.default_rng(seed)
    x = engine.tensor(rng.standard_normal(shape), requires_grad=True)
    out = operation(x)
    y = engine.tensor(rng.standard_normal(out.shape))
    (gradient,) = engine.autograd.grad(out, x, y)
    assert gradient.shape == x.shape
    products = [float((out * y).sum()), float((x * gradient).sum())]
    np.testing.assert_allclose(products[0], products[1], rtol=1e-10, atol=1e-12)
    return out


@some
@given(st.data(), SHAPES, st.integers(0, 99))
def test_basic_keys(data: Any, shape: tuple[int, ...], seed: int) -> None:
    key = data.draw(basic_indices(shape, allow_newaxis=True))
    parts = key if isinstance(key, tuple) else (key,)
    if any(isinstance(part, slice) and (part.step or 1) < 0 for part in parts):
        with pytest.raises(ValueError, match="step must be greater than zero"):
            engine.zeros(shape)[key]
        return
    out = check_transpose(lambda x: x[key], shape, seed)
    assert out.shape == np.zeros(shape)[key].shape


@some
@given(st.data(), array_shapes(max_dims=3, max_side=4), st.integers(0, 99))
def test_keys_of_positions(data: Any, shape: tuple[int, ...], seed: int) -> None:
    count = data.draw(st.integers(0, 5))
    key = tuple(
        engine.tensor(data.draw(st.lists(st.integers(-extent, extent - 1), min_size=count,
                                         max_size=count)), dtype=engine.int64)
        for extent in shape
    )  # fmt: skip
    out = check_transpose(lambda x: x[key], shape, seed)
    assert out.shape == (count,)


@some
@given(SHAPES, st.integers(0, 99), st.data())
def test_orders_of_dimensions(shape: tuple[int, ...], seed: int, data: Any) -> None:
    dims = data.draw(st.permutations(range(len(shape))))
    out = check_transpose(lambda x: x.permute(dims).reshape(-1), shape, seed)
    assert out.shape == (int(np.prod(shape)),)


@some
@given(mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=4), st.integers(0, 99))
def test_broadcasting(shapes: Any, seed: int) -> None:
    small, wide = shapes.input_shapes[0], shapes.result_shape
    check_transpose(lambda x: x.expand(wide), small, seed)
    check_transpose(lambda x: x.sum_to_size(small), wide, seed)


@some
@given(SHAPES, st.integers(0, 99), st.data())
def test_taking_apart_and_joining_again(shape: tuple[int, ...], seed: int, data: Any) -> None:
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    size = data.draw(st.integers(1, 3))

    def again(x: Any) -> Any:
        return engine.cat(x.split(size, dim), dim)

    x = engine.randn(shape)
    assert engine.equal(again(x), x)
    check_transpose(again, shape, seed)


@some
@given(array_shapes(max_dims=3, max_side=6), st.integers(1, 6), st.integers(1, 4), st.data())
def test_windows(shape: tuple[int, ...], size: int, step: int, data: Any) -> None:
    dim = data.draw(st.integers(0, len(shape) - 1))
    if size <= shape[dim]:
        check_transpose(lambda x: x.unfold(dim, size, step), shape, 0)


@some
@given(array_shapes(min_dims=2, max_dims=4, max_side=4), st.integers(-4, 4), st.data())
def test_diagonals(shape: tuple[int, ...], offset: int, data: Any) -> None:
    dims = data.draw(st.permutations(range(len(shape))))[:2]
    check_transpose(lambda x: x.diagonal(offset, *dims), shape, 1)
    check_transpose(lambda x: engine.diag_embed(x, offset, *dims), shape, 2)
    check_transpose(lambda x: x.tril(offset) - 2 * x.triu(offset), shape, 3)


@some
@given(array_shapes(max_dims=3, max_side=3), st.lists(st.integers(0, 3), max_size=4))
def test_repetition(shape: tuple[int, ...], repeats: list[int]) -> None:
    check_transpose(lambda x: x.tile(repeats), shape, 4)

"""Shapes that broadcast do so in value and gradient; shapes that do not are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis.extra.numpy import array_shapes, mutually_broadcastable_shapes

import gradtool.engine as t

PAIRS = mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4, min_side=0)
TRIPLES = mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3, min_side=0)
SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0)

Shape = tuple[int, ...]


def drawn(shape: Shape, seed: int) -> Any:
    return np.asarray(np.random.default_rng(seed).uniform(0.5, 2, shape))


def reduced(gradient: Any, shape: Shape) -> Any:
    """The sum of a gradient over what broadcasting from `shape` stretched, the plain way."""
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    stretched = tuple(axis for axis, extent in enumerate(shape) if extent == 1)
    return gradient.sum(axis=stretched, keepdims=True)


@given(PAIRS)
def test_products_and_their_gradients(pair: Any) -> None:
    (one, other), result = pair.input_shapes, pair.result_shape
    a, b, g = drawn(one, 1), drawn(other, 2), drawn(result, 3)
    x, y = t.tensor(a, requires_grad=True), t.tensor(b, requires_grad=True)
    out = x * y
    assert out.shape == result
    assert np.array_equal(out.detach().numpy(), a * b)
    dx, dy = t.autograd.grad(out, (x, y), t.tensor(g))
    np.testing.assert_allclose(dx.numpy(), reduced(g * b, one), rtol=1e-13)
    np.testing.assert_allclose(dy.numpy(), reduced(g * a, other), rtol=1e-13)


@given(TRIPLES)
def test_choices_and_their_gradients(triple: Any) -> None:
    (at, one, other), result = triple.input_shapes, triple.result_shape
    chosen, g = drawn(at, 1) < 1, drawn(result, 2)
    x = t.tensor(drawn(one, 3), requires_grad=True)
    y = t.tensor(drawn(other, 4), requires_grad=True)
    out = t.where(t.tensor(chosen), x, y)
    assert out.shape == result
    dx, dy = t.autograd.grad(out, (x, y), t.tensor(g))
    np.testing.assert_allclose(dx.numpy(), reduced(np.where(chosen, g, 0), one), rtol=1e-13)
    np.testing.assert_allclose(dy.numpy(), reduced(np.where(chosen, 0, g), other), rtol=1e-13)


@given(TRIPLES)
def test_bounds_and_their_gradients(triple: Any) -> None:
    shapes, result = triple.input_shapes, triple.result_shape
    arrays = [drawn(shape, seed) for seed, shape in enumerate(shapes)]
    x, low, high = [t.tensor(array, requires_grad=True) for array in arrays]
    out = x.clamp(low, high)
    assert out.shape == result
    grads = t.autograd.grad(out.sum(), (x, low, high))
    assert [grad.shape for grad in grads] == list(shapes)


@given(SHAPES, SHAPES)
def test_shapes_that_do_not_broadcast(one: Shape, other: Shape) -> None:
    try:
        np.broadcast_shapes(one, other)
    except ValueError:
        with pytest.raises(RuntimeError, match="must match the size of tensor b"):
            t.zeros(one) + t.zeros(other)
    else:
        assume(False)


def test_the_dimension_that_does_not_match_is_named() -> None:
    with pytest.raises(RuntimeError) as caught:
        t.zeros(2, 3) / t.zeros(4)
    assert str(caught.value) == (
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"
    )

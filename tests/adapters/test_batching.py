"""Batches by a Function's own batching."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.autograd import Function
from tests.adapters.case_functions import Product, at, leaf, matrix

X, Y = (2.0, 3.0), (0.5, -1.0)


class Generated(Function):
    """x y, summed over the last dimension; batching is derived."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y, power=1):
        return (x**power * y).sum(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x, None


class OwnRule(Generated):
    generate_vmap_rule = False
    told: object = None

    @staticmethod
    def vmap(info, in_dims, x, y, power):
        OwnRule.told = (info.batch_size, in_dims, power)
        x = x if in_dims[0] is None else x.movedim(in_dims[0], -2)
        y = y if in_dims[1] is None else y.movedim(in_dims[1], -2)
        return OwnRule.apply(x, y, power), 0


class FirstOnly(OwnRule):
    """Takes the examples to come first, wherever they are."""

    @staticmethod
    def vmap(info, in_dims, x, y, power):
        return FirstOnly.apply(x, y, power), 0


class Unbatched(OwnRule):
    @staticmethod
    def vmap(info, in_dims, x, y, power):
        return Unbatched.apply(y, y, power), None


def loop(it, primals, in_dims):
    size = next(p.shape[d] for p, d in zip(primals, in_dims, strict=True) if d is not None)
    return [
        np.array(
            it.evaluate(
                [
                    p if d is None else np.take(p, number, d)
                    for p, d in zip(primals, in_dims, strict=True)
                ]
            )[0]
        )
        for number in range(size)
    ]


@pytest.mark.parametrize(
    ("function", "expected"),
    [(Generated, True), (OwnRule, True), (Product, False), (lambda x, y: x, False)],
)
def test_whether_batching_is_declared_is_seen(function, expected) -> None:
    assert at(function, leaf(*X), leaf(*Y)).defines_vmap == expected


@pytest.mark.parametrize("function", [Generated, OwnRule, lambda x, y: (x * y).sum(-1)])
@pytest.mark.parametrize("in_dims", [(0, 0), (0, None), (None, 0), (1, 0), (1, None)])
def test_a_batch_is_what_the_loop_makes_of_it(function, in_dims) -> None:
    it = at(function, leaf(*X), leaf(*Y))
    rng = np.random.default_rng(0)
    primals = [
        rng.standard_normal((2,) if dim is None else (5, 2) if dim == 0 else (2, 5))
        for dim in in_dims
    ]
    (found,) = it.vmapped(primals, in_dims)
    assert np.allclose(found, loop(it, primals, in_dims), rtol=1e-14)


def test_a_rule_is_told_where_the_examples_are() -> None:
    it = at(OwnRule, leaf(*X), leaf(*Y))
    it.vmapped([np.ones((2, 5)), np.array(Y)], (1, None))
    assert OwnRule.told == (5, (1, None, None), 1)


def test_a_rule_that_takes_the_examples_to_come_first_shows() -> None:
    it = at(FirstOnly, leaf(*X), leaf(*Y))
    primals = [np.arange(4.0).reshape(2, 2), np.array(Y)]
    (first,) = it.vmapped(primals, (0, None))
    assert np.allclose(first, loop(it, primals, (0, None)))
    (second,) = it.vmapped(primals, (1, None))
    assert not np.allclose(second, loop(it, primals, (1, None)))


def test_an_output_that_is_the_same_for_each_example_is_repeated() -> None:
    it = at(Unbatched, leaf(*X), leaf(*Y))
    (found,) = it.vmapped([np.ones((5, 2)), np.array(Y)], (0, None))
    assert found.tolist() == [1.25] * 5


@pytest.mark.parametrize(
    ("function", "message"),
    [(Product, "must override the setup_context"), (type("Both", (OwnRule,), {}), "ambiguity")],
)
def test_what_the_engine_refuses_is_raised(function, message) -> None:
    function.generate_vmap_rule = True
    it = at(function, leaf(*X), leaf(*Y))
    try:
        with pytest.raises(RuntimeError, match=message):
            it.vmapped([np.ones((5, 2)), np.array(Y)], (0, None))
    finally:
        del function.generate_vmap_rule


def test_a_rule_needs_a_forward_without_ctx() -> None:
    class Combined(Product):
        @staticmethod
        def vmap(info, in_dims, x, y):
            return x * y, 0

    it = at(Combined, matrix(2), matrix(2))
    with pytest.raises(RuntimeError, match="must override the setup_context"):
        it.vmapped([np.ones((5, 2)), np.array(Y)], (0, None))

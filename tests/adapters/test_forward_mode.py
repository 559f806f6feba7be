"""Tangents through a Function's own jvp."""

from __future__ import annotations

import numpy as np
import pytest

import gradtool.engine as torch
from tests.adapters.case_functions import Product, at, leaf

X, Y = (2.0, 3.0), (0.5, -1.0)


class WithJvp(Product):
    """x * y and x + y, and how they move; the second output does not move without y."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        ctx.set_materialize_grads(False)
        return x * y, x + y

    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        if dy is None:
            return dx * y, None
        return (0 if dx is None else dx * y) + x * dy, dy


def test_whether_there_is_a_jvp_is_seen() -> None:
    assert at(WithJvp, leaf(*X), leaf(*Y)).defines_jvp
    assert not at(Product, leaf(*X), leaf(*Y)).defines_jvp
    assert not at(lambda x: x, leaf(*X)).defines_jvp


def test_each_row_is_pushed_through_the_functions_own_jvp() -> None:
    it = at(WithJvp, leaf(*X), leaf(*Y))
    dx, dy = np.array([1.0, 10.0]), np.array([2.0, 3.0])
    rows = it.jvps(it.primals, [(dx, None), (None, dy), (dx, dy)])
    found = [[None if each is None else each.tolist() for each in row] for row in rows]
    # The second output's tangent lacks dx: what the jvp says, not what is right.
    assert found == [
        [[0.5, -10.0], None],
        [[4.0, 9.0], [2.0, 3.0]],
        [[4.5, -1.0], [2.0, 3.0]],
    ]


def test_undefined_tangents_reach_a_jvp_that_materializes_them_as_zeros() -> None:
    got = []

    class Materializing(Product):
        @staticmethod
        def jvp(ctx, dx, dy):
            got.append(dy.tolist())
            return dx + dy

    it = at(Materializing, leaf(*X), leaf(*Y))
    it.jvps(it.primals, [(np.ones(2), None)])
    assert got == [[0.0, 0.0]]


def test_of_a_plain_callable_the_engine_derives_it() -> None:
    it = at(lambda x: x.exp(), leaf(*X))
    ((tangent,),) = it.jvps(it.primals, [[np.array([1.0, 2.0])]])
    assert np.allclose(tangent, np.exp(X) * [1, 2])


def test_without_a_jvp_the_engine_says_so() -> None:
    it = at(Product, leaf(*X), leaf(*Y))
    with pytest.raises(NotImplementedError, match="must implement the jvp"):
        it.jvps(it.primals, [(np.ones(2), None)])


def test_a_tangent_takes_the_dtype_of_its_argument() -> None:
    it = at(lambda x: x * 2, leaf(*X, dtype=torch.float32))
    ((tangent,),) = it.jvps(it.primals, [[np.ones(2)]])
    assert tangent.dtype == np.float32

"""Many points or cotangents in one batched run, and what is done where that cannot be."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtool.engine as torch
from gradtool.adapters.common import batching
from gradtool.engine.autograd import Function
from tests.adapters.case_functions import Linear, Product, at, leaf, matrix

X = (2.0, 3.0, 5.0)
rng = np.random.default_rng(0)


class Accumulating(Function):
    """x² by way of a tensor that is filled in place."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        out = torch.zeros_like(x)
        out += x
        return out.mul_(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        gradient = torch.zeros_like(x)
        gradient += 2 * g * x
        return gradient


class ThroughNumpy(Accumulating):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(x.detach().numpy() ** 2)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.from_numpy(g.numpy() * 2 * x.numpy())


class Branching(Accumulating):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x if x.sum() > 0 else x * x + 0

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x if g.sum() > 0 else g * x * 2


class Random(Accumulating):
    """x² with a summand that cancels, which is drawn."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x + random.random() * 0


class Keeping(Accumulating):
    last = None
    seen = {}  # noqa: RUF012 - that it is shared is the point

    @staticmethod
    def forward(ctx, x):
        Keeping.last = Keeping.seen["x"] = x
        ctx.save_for_backward(x)
        return x * x


class Counting(Accumulating):
    count = torch.zeros(3, dtype=torch.float64)

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        Counting.count.add_(1)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        Counting.count.copy_(g)
        return g * 2 * x


def assert_evaluates(it, primals, stacked, *, batched=True):
    found = it.evaluate_many(primals, stacked)
    assert found.batched == batched, found.reason
    count = next(len(p) for p, flag in zip(primals, stacked, strict=True) if flag)
    for number in range(count):
        point = [p[number] if flag else p for p, flag in zip(primals, stacked, strict=True)]
        for array, one in zip(found.arrays, it.evaluate(point), strict=True):
            assert (array is None) == (one is None)
            if array is not None:
                assert array.dtype == one.dtype
                assert np.allclose(array[number], one, rtol=1e-13, atol=1e-13)
    return found


def assert_pulls(it, primals, cotangents, *, batched=True):
    found = it.vjps_many(primals, cotangents)
    assert found.batched == batched, found.reason
    count = next(len(c) for c in cotangents if c is not None)
    rows = it.vjps(
        primals, [[None if c is None else c[k] for c in cotangents] for k in range(count)]
    )
    for array, *ones in zip(found.arrays, *rows, strict=True):
        assert (array is None) == (ones[0] is None)
        if array is not None:
            assert np.allclose(array, np.stack(ones), rtol=1e-13, atol=1e-13)
    return found


# ---- batched ------------------------------------------------------------------------------


@pytest.mark.parametrize("stacked", [(True, False), (False, True), (True, True)])
def test_points_are_batched(stacked) -> None:
    it = at(Linear, matrix(4, 3), matrix(5, 3, seed=1))
    primals = [
        rng.standard_normal((7, *p.shape)) if flag else p
        for p, flag in zip(it.primals, stacked, strict=True)
    ]
    assert_evaluates(it, primals, stacked)


def test_cotangents_are_batched() -> None:
    it = at(Linear, matrix(4, 3), matrix(5, 3, seed=1), matrix(5, seed=2))
    assert_pulls(it, it.primals, [rng.standard_normal((7, 4, 5))])


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_tensors_filled_in_place_are_batched(shape) -> None:
    it = at(Accumulating, matrix(*shape))
    assert_evaluates(it, [rng.standard_normal((4, *shape))], [True])
    assert_pulls(it, it.primals, [rng.standard_normal((4, *shape))])


def test_a_plain_callable_and_what_it_differentiates_inside_are_batched() -> None:
    def slope(x):
        with torch.enable_grad():
            leaf = x.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(Product.apply(leaf, leaf.exp()), leaf, x)
        return gradient

    assert_evaluates(at(slope, leaf(*X)), [rng.standard_normal((4, 3))], [True])


def test_changes_reach_views_and_their_bases_in_a_batch() -> None:
    def viewing(x):
        y = x.clone()
        view = y.t()
        view[0].mul_(3)
        y += 1
        filled = torch.zeros(3, 2, dtype=x.dtype)
        filled[1:, 0] = y[0, 1:]
        return y * view.t(), filled, view

    assert_evaluates(at(viewing, matrix(2, 3)), [rng.standard_normal((5, 2, 3))], [True])


def test_the_backward_map_is_batched() -> None:
    it = at(Linear, matrix(4, 3), matrix(5, 3, seed=1)).backward_map([np.ones((4, 5))])
    x, weight, cotangent = it.primals
    points = [rng.standard_normal((6, *x.shape)), weight, cotangent]
    found = assert_evaluates(it, points, [True, False, False])
    assert [array.shape for array in found.arrays] == [(6, 4, 3), (6, 5, 3)]
    assert_pulls(it, it.primals, [rng.standard_normal((6, 4, 3)), rng.standard_normal((6, 5, 3))])


def test_undefined_cotangents_stay_undefined() -> None:
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 if b is None else b * 3

    it = at(Two, leaf(*X))
    assert_pulls(it, it.primals, [rng.standard_normal((4, 3)), None])
    assert_pulls(it, it.primals, [None, rng.standard_normal((4, 3))])


def test_what_does_not_depend_on_the_batch_is_repeated() -> None:
    it = at(lambda x, y: (x * 2, y * 2, None), leaf(*X), leaf(*X))
    found = assert_evaluates(it, [np.ones((4, 3)), np.ones(3)], [True, False])
    assert found.arrays[1].tolist() == [[2.0] * 3] * 4


def test_large_batches_are_cut_to_a_budget(monkeypatch) -> None:
    monkeypatch.setattr(batching, "_MAX_BATCH_BYTES", 100)
    sizes = bytearray()  # a list would be taken for something kept from call to call

    def spy(x):
        sizes.append(x._level.size if hasattr(x, "_level") else 1)
        return x * 2

    found = at(spy, leaf(*X)).evaluate_many([np.arange(30.0).reshape(10, 3)], [True])
    assert found.batched
    assert list(sizes) == [4, 4, 2]
    assert found.arrays[0].tolist() == (np.arange(30.0).reshape(10, 3) * 2).tolist()


def test_what_a_batch_leaves_for_another_call_is_taken_away() -> None:
    it = at(Keeping, leaf(*X))
    assert_evaluates(it, [np.arange(30.0).reshape(10, 3)], [True], batched=False)
    Keeping.last = before = torch.zeros(3)
    found = it.evaluate_many([np.arange(30.0).reshape(10, 3)], [True], or_loop=False)
    assert (found.arrays, found.reason) == ((), "it keeps something for another call")
    assert Keeping.last is before


@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(1, 3), inner=st.integers(1, 3), columns=st.integers(1, 3),
    count=st.integers(1, 4), bias=st.booleans(),
)  # fmt: skip
def test_batches_of_any_shape_agree_with_the_loop(rows, inner, columns, count, bias) -> None:
    tensors = [matrix(rows, inner), matrix(columns, inner), *([matrix(columns)] if bias else [])]
    it = at(Linear, *tensors)
    points = [rng.standard_normal((count, *p.shape)) for p in it.primals]
    assert_evaluates(it, points, [True] * len(points))
    assert_pulls(it, it.primals, [rng.standard_normal((count, rows, columns))])


# ---- one by one ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (ThroughNumpy, "."),
        (Branching, "control flow"),
        (Random, "it draws random numbers"),
        (Counting, "it changes Counting.count"),
    ],
)
def test_points_that_cannot_be_batched_are_taken_one_by_one(function, reason) -> None:
    it = at(function, leaf(*X))
    found = assert_evaluates(it, [rng.standard_normal((4, 3))], [True], batched=False)
    assert re.search(reason, found.reason)


@pytest.mark.parametrize("function", [ThroughNumpy, Branching, Counting])
def test_cotangents_that_cannot_be_batched_are_taken_one_by_one(function) -> None:
    it = at(function, leaf(*X))
    found = assert_pulls(it, it.primals, [rng.standard_normal((4, 3))], batched=False)
    assert found.reason


def test_a_buffer_that_a_batch_was_written_to_is_put_back() -> None:
    Counting.count.fill_(0)
    it = at(Counting, leaf(*X))
    assert not it.evaluate_many([np.ones((4, 3))], [True]).batched
    assert type(Counting.count) is torch.Tensor
    assert Counting.count.tolist() == [4.0] * 3  # of the four calls one by one
    assert not it.vjps_many(it.primals, [np.ones((2, 3))]).batched
    assert Counting.count.tolist() == [1.0] * 3  # the last cotangent


def test_what_the_code_raises_one_by_one_is_raised() -> None:
    def picky(x):
        if float(x[0]) > 2:
            raise ValueError("too large")
        return x

    it = at(picky, leaf(*X))
    with pytest.raises(ValueError, match="too large"):
        it.evaluate_many([np.array([[1.0], [3.0]])], [True])


def test_outputs_in_reused_memory_are_copied() -> None:
    buffer = np.zeros(3)

    def reusing(x):
        buffer[:] = x.detach().numpy() * 2
        return torch.from_numpy(buffer)

    found = at(reusing, leaf(*X)).evaluate_many([np.array([[1.0] * 3, [2.0] * 3])], [True])
    assert not found.batched
    assert found.arrays[0].tolist() == [[2.0] * 3, [4.0] * 3]


def test_nothing_stacked_is_refused() -> None:
    it = at(Product, leaf(*X), leaf(*X))
    with pytest.raises(ValueError, match="nothing is stacked"):
        it.evaluate_many(it.primals, [False, False])
    with pytest.raises(ValueError, match="nothing is stacked"):
        it.vjps_many(it.primals, [None])

"""Calls whose tensors lie in memory in other ways."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.autograd import Function
from tests.adapters.case_functions import Linear, at, matrix

LAYOUTS = ["contiguous", "transposed", "gapped", "expanded"]


class Strides(Function):
    """Remembers the strides, in elements, of what its methods get."""

    forward_got: tuple[int, ...] = ()
    backward_got: tuple[int, ...] = ()

    @staticmethod
    def forward(ctx, x):
        Strides.forward_got = x.stride()
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Strides.backward_got = g.stride()
        return g * 2


@pytest.mark.parametrize(
    ("layout", "strides"),
    [("contiguous", (3, 1)), ("transposed", (1, 2)), ("gapped", (12, 2)), ("expanded", (0, 1))],
)
def test_tensors_reach_the_function_laid_out_as_asked(layout, strides) -> None:
    it = at(Strides, matrix(2, 3))
    rows = np.array([[1.0, 2.0, 3.0]] * 2)
    seen = it.call([rows], [rows], input_layout=layout, cotangent_layout=layout)
    assert seen.failure is None
    assert Strides.forward_got == strides
    assert Strides.backward_got == strides
    assert seen.gradients is not None
    assert seen.gradients[0].tolist() == (rows * 2).tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_right_function_does_not_mind(layout) -> None:
    it = at(Linear, matrix(4, 3), matrix(5, 3, seed=1), matrix(5, seed=2))
    cotangent = np.random.default_rng(3).standard_normal((4, 5))
    plain = it.call(it.primals, [cotangent])
    seen = it.call(it.primals, [cotangent], input_layout=layout, cotangent_layout=layout)
    assert seen.failure is None
    assert np.allclose(seen.outputs[0], plain.outputs[0], rtol=1e-14)
    for one, other in zip(seen.gradients, plain.gradients, strict=True):
        assert np.allclose(one, other, rtol=1e-14)


def test_an_expanded_cotangent_is_that_of_a_sum() -> None:
    it = at(Strides, matrix(2, 3))
    it.call(it.primals, [np.ones((2, 3))], cotangent_layout="expanded")
    assert Strides.backward_got == (0, 0)


def test_values_that_differ_are_never_made_equal() -> None:
    it = at(Strides, matrix(2, 3))
    cotangent = np.arange(6.0).reshape(2, 3)
    seen = it.call(it.primals, [cotangent], cotangent_layout="expanded")
    assert Strides.backward_got == (3, 1)
    assert seen.gradients is not None
    assert seen.gradients[0].tolist() == (2 * cotangent).tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(), (0, 3), (1,)])
def test_small_and_empty_tensors_can_be_laid_out_too(layout, shape) -> None:
    it = at(Strides, matrix(*shape))
    seen = it.call(it.primals, [np.ones(shape)], input_layout=layout, cotangent_layout=layout)
    assert seen.failure is None
    assert seen.gradients is not None
    assert seen.gradients[0].shape == shape


def test_a_backward_that_views_its_cotangent_fails_as_it_would_in_use() -> None:
    class Flattening(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape = x.shape
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return (g.view(-1) * 2).view(ctx.shape)

    it = at(Flattening, matrix(2, 3))
    assert it.call(it.primals, [np.ones((2, 3))]).failure is None
    failure = it.call(it.primals, [np.ones((2, 3))], cotangent_layout="transposed").failure
    assert failure is not None
    assert "view size is not compatible" in failure.message


def test_who_reads_beside_the_elements_of_a_gapped_tensor_reads_nan() -> None:
    class Strided(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            buffer = g._array.base  # what lies behind, as a kernel that takes a pointer sees it
            assert buffer is not None
            return g.new_tensor(np.ravel(buffer)[: g.numel()]).reshape(g.shape)

    it = at(Strided, matrix(4))
    seen = it.call(it.primals, [np.ones(4)], cotangent_layout="gapped")
    assert seen.gradients is not None
    assert np.isnan(seen.gradients[0]).any()

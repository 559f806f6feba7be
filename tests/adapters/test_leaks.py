"""What outlives a call."""

from __future__ import annotations

import gc

import pytest

from gradtool.engine.autograd import Function
from tests.adapters.case_functions import Product, at, leaf

X, Y = (2.0, 3.0), (0.5, -1.0)


class Exp(Function):
    """exp, its output kept in a way to be overridden."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.y = y
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.y


class SavedExp(Exp):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y


class HeldExp(SavedExp):
    held: list[object] = []  # noqa: RUF012 - the mistake that is looked for

    @staticmethod
    def forward(ctx, x):
        HeldExp.held.append(ctx)
        return SavedExp.forward(ctx, x)


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (Product, (leaf(*X), leaf(*Y)), None),
        (SavedExp, (leaf(*X),), None),
        (lambda x: x.exp() * 2, (leaf(*X),), None),
        (lambda x: x.detach(), (leaf(*X),), None),
        (Exp, (leaf(*X),), "cycle"),
        (HeldExp, (leaf(*X),), "held"),
    ],
)
def test_a_ctx_that_outlives_its_outputs_is_seen(function, args, expected) -> None:
    it = at(function, *args)
    assert it.leaks(it.primals) == expected


def test_the_garbage_collector_is_left_as_it_was() -> None:
    it = at(Exp, leaf(*X))
    assert gc.isenabled()
    it.leaks(it.primals)
    assert gc.isenabled()
    gc.disable()
    try:
        it.leaks(it.primals)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_forward_that_raises_says_so() -> None:
    class Raising(Product):
        @staticmethod
        def forward(ctx, x, y):
            raise ValueError("no")

    it = at(Raising, leaf(*X), leaf(*Y))
    with pytest.raises(ValueError, match="no"):
        it.leaks(it.primals)
    assert gc.isenabled()

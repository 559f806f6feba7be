"""Modules of a user's, as source."""

from __future__ import annotations

GOOD = """
from gradtool import Function


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x


class Product(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x
"""

WRONG = """
from gradtool import Function


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * x
"""

NOT_LOADED = """
import no_such_thing

class A(no_such_thing.Base):
    @staticmethod
    def forward(ctx, x): return x

    @staticmethod
    def backward(ctx, g): return g
"""

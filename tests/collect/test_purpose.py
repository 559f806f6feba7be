"""The purpose of a Function that takes what it needs from its own class."""

from __future__ import annotations

from typing import Any

from gradtool import Function
from gradtool.collect.purpose import unchecked
from gradtool.collect.unchecked import Purpose


class Loss(Function):
    @classmethod
    def forward(cls, ctx: Any, x: Any) -> Any:
        assert x.dim() == 2
        projected = cls.project(x)  # type: ignore[attr-defined]
        ctx.save_for_backward(projected)
        return projected.sum()

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        return grad * ctx.saved_tensors[0]


class SquareLoss(Loss):
    @classmethod
    def project(cls, x: Any) -> Any:
        return x * x


class Sometimes(Function):
    """A subclass has what an argument may ask for; without it, this one computes."""

    @classmethod
    def forward(cls, ctx: Any, x: Any, scaled: bool) -> Any:
        if scaled:
            x = cls.scale(x)  # type: ignore[attr-defined]
        return x * 2

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        return grad, None


class Scaled(Sometimes):
    @classmethod
    def scale(cls, x: Any) -> Any:
        return x * 3


class Alone(Function):
    """No subclass has what it lacks."""

    @classmethod
    def forward(cls, ctx: Any, x: Any) -> Any:
        return cls.nowhere(x)  # type: ignore[attr-defined]

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        return grad


def test_a_class_that_always_needs_what_its_subclasses_have_is_abstract() -> None:
    found = unchecked(Loss)
    assert found is not None
    assert (found.purpose, found.message) == (
        Purpose.ABSTRACT,
        "is abstract: project is left to its subclasses",
    )


def test_one_that_can_run_or_that_no_subclass_completes_is_checked() -> None:
    assert [unchecked(each) for each in (SquareLoss, Sometimes, Scaled, Alone)] == [None] * 4

"""The parameters in place of ``*args`` have the names that forward gives them."""

from __future__ import annotations

from typing import Any

import gradtool.engine as torch
from gradtool.adapters.common.binding import parameters_of
from gradtool.cases.inference.calls.unpacked import unpacked


def blended(x: Any, y: Any, share: float, offset: float = 0.0) -> Any:
    return share * x + (1 - share) * y + offset


def total(x: Any, *others: Any) -> Any:
    return x + sum(others)


class Blended(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, *args: Any) -> Any:
        ctx.args = args
        return blended(x, *args)


class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, *args: Any) -> Any:
        ctx.args = args
        return total(x, *args)


class Attached(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, *args: Any) -> Any:
        *tensors, solver = args
        ctx.solver = solver
        ctx.save_for_backward(x, *tensors)
        return x.detach()


def names(function: Any) -> list[str]:
    return [each.name for each in unpacked(function, parameters_of(function))[0]]


def test_what_is_passed_on_has_the_names_of_the_helper() -> None:
    assert names(Blended) == ["x", "y", "share", "offset"]


def test_a_helper_that_takes_any_number_names_nothing() -> None:
    assert names(Total) == ["x", "args"]


def test_one_argument_stands_for_those_before_the_last() -> None:
    assert names(Attached) == ["x", "args_0", "solver"]

"""Outputs and gradients of which only roundings are left are no findings of rules that compare."""

from typing import Any

import pytest

from gradtool.engine import autograd, enable_grad, float64, outer, stack, tensor
from gradtool.engine.autograd import Function
from gradtool.engine.autograd.function import once_differentiable
from gradtool.testing import check

NUMBERS = [[[-2.3, -0.2], [-1.2, -0.7], [-0.5, -0.3]], [[0.4, 1.0], [-0.1, 1.4], [-0.7, 0.4]]]


class _Derived(Function):
    """Has the derivative that autograd finds."""

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        (x,) = ctx.saved_tensors
        with enable_grad():
            x = x if x.requires_grad else x.detach().requires_grad_()
            (grad,) = autograd.grad(ctx.formula(x), x, cotangents, create_graph=True)
        return grad

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor(NUMBERS, dtype=float64, requires_grad=True),)


def centred(x: Any) -> Any:
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 0.1).sqrt()


class SumOfCentred(_Derived):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.formula = lambda x: (centred(x), centred(x).sum())
        return ctx.formula(x)


class MeanOfCentred(_Derived):
    """Its gradient is nothing but roundings too."""

    numbers = ((0.13, -0.13, 0.64, 0.1), (-0.54, 0.36, 1.3, 0.95), (-0.7, -1.27, -0.62, 0.04))

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.formula = lambda x: (x * centred(x).mean()).mean(-1)
        return ctx.formula(x)

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor(MeanOfCentred.numbers, dtype=float64, requires_grad=True),)


class ConstantRoundings(MeanOfCentred):
    """What is left of its outputs does not change from one evaluation to the next."""

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor(NUMBERS, dtype=float64, requires_grad=True),)


class AddsStride(Function):
    """Wrong for a layout, in an output that is not zero."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * x.stride(0), x.sum()

    @staticmethod
    def backward(ctx: Any, grad_output: Any, grad_sum: Any) -> Any:
        return 6 * grad_output + grad_sum

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor(NUMBERS, dtype=float64, requires_grad=True),)


def rules(function: Any) -> set[str]:
    return {finding.rule for finding in check(function).findings()}


@pytest.mark.parametrize("function", [SumOfCentred, MeanOfCentred, ConstantRoundings])
def test_roundings_in_another_order_are_no_finding(function: Any) -> None:
    assert rules(function) == set()


def test_an_output_that_reads_strides_is_one() -> None:
    assert "GT112" in rules(AddsStride)


class Mirrors(Function):
    """Mirrors numbers, whatever the normals are, so that gradients are the rest of large terms."""

    @staticmethod
    def forward(ctx: Any, normals: Any, x: Any) -> Any:
        for each in normals:
            x = x - 2 * outer(each, each @ x) / (each @ each)
        ctx.save_for_backward(normals, x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        normals, x = ctx.saved_tensors
        found = []
        for each in normals.flip(0):
            part = 2 / (each @ each)
            x = x - part * outer(each, each @ x)
            along, of_grad = each @ x, each @ grad
            found.append(part * (part * (of_grad @ along) * each - grad @ along - x @ of_grad))
            grad = grad - part * outer(each, of_grad)
        return stack(found[::-1]), grad

    @staticmethod
    def sample_inputs() -> Any:
        normals = tensor(
            [[0.926517704255339], [-3.354573119446021e-06]], dtype=float64, requires_grad=True
        )
        yield (
            normals,
            tensor([[0.6787649042179871, 1.0868316228841148]], dtype=float64, requires_grad=True),
        )


def test_roundings_of_large_terms_are_no_sum_that_is_off() -> None:
    report = check(Mirrors, select=("GT101",))
    assert not list(report.findings())


class Undone(Function):
    """Undoes its own steps in each backward, which leaves roundings in what it keeps."""

    runs = 0

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.cos() ** 2 + x.sin() ** 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        Undone.runs += 1
        return grad * (2e-16 * Undone.runs) * x.sign()

    @staticmethod
    def sample_inputs() -> Any:
        yield (tensor([0.4, 1.3, -0.7], dtype=float64, requires_grad=True),)


def test_roundings_that_grow_from_run_to_run_are_none_that_differ() -> None:
    assert "GT110" not in rules(Undone)

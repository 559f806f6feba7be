"""A vmap that takes one argument's dimension for another's is found, in whichever way it fails."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine.autograd import Function
from gradtool.testing import check
from gradtool.verify.rules._placings import covering_placings

Lead = Callable[[int, Any, tuple[int | None, ...], int], Any]
"""Moves the examples of an argument first: its number, its tensor, in_dims, the batch size."""


def affine(lead: Lead) -> type[Function]:
    """x * s + b, whose rule for batches moves each argument by `lead`."""

    class Affine(Function):
        @staticmethod
        def forward(x: Any, s: Any, b: Any) -> Any:
            return x * s + b

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs[:2])

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, s = ctx.saved_tensors
            return g * s, g * x, g

        @staticmethod
        def vmap(info: Any, in_dims: Any, *tensors: Any) -> Any:
            moved = [lead(i, t, in_dims, info.batch_size) for i, t in enumerate(tensors)]
            return Affine.apply(*moved), 0

    return Affine


def found(function: type[Function], shape: tuple[int, ...] = (4,)) -> dict[str, str]:
    case = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    report = check(function, [tuple(case)], select=["GT401", "GT403"])
    return {finding.rule: finding.message for finding in report.findings()}


def moved(tensor: Any, dim: int | None) -> Any:
    return tensor if dim is None else tensor.movedim(dim, 0)


def test_a_rule_that_reads_every_entry_passes() -> None:
    assert found(affine(lambda i, t, dims, size: moved(t, dims[i]))) == {}
    assert found(affine(lambda i, t, dims, size: moved(t, dims[i])), (2, 3)) == {}


@pytest.mark.parametrize("one", range(3))
@pytest.mark.parametrize("other", range(3))
def test_the_entry_of_another_argument(one: int, other: int) -> None:
    def confused(i: int, tensor: Any, dims: Any, size: int) -> Any:
        read = other if i == one else i
        return tensor if dims[i] is None or dims[read] is None else tensor.movedim(dims[read], 0)

    assert list(found(affine(confused))) == ([] if one == other else ["GT401"])


def test_the_entry_of_another_argument_unless_that_is_none() -> None:
    def confused(i: int, tensor: Any, dims: Any, size: int) -> Any:
        return moved(tensor, dims[i] if i == 0 or dims[0] is None or dims[i] is None else dims[0])

    assert list(found(affine(confused))) == ["GT401"]


@pytest.mark.parametrize("shape", [(4,), (2, 3)])
def test_a_dimension_that_is_guessed_by_its_length(shape: tuple[int, ...]) -> None:
    def guessed(i: int, tensor: Any, dims: Any, size: int) -> Any:
        return tensor if dims[i] is None else tensor.movedim([*tensor.shape].index(size), 0)

    assert "differs from the loop" in found(affine(guessed), shape)["GT401"]


@pytest.mark.parametrize("ranks", [(1, 1), (0, 2), (1, None, 2), (0, 0, 0), (2,) * 6])
def test_every_two_arguments_are_placed_in_every_two_ways(ranks: tuple[int | None, ...]) -> None:
    placings = list(covering_placings(ranks))
    ways = [{None} if rank is None else {0, rank, None} for rank in ranks]
    for i, j in combinations(range(len(ranks)), 2):
        wanted = {*product(ways[i], ways[j])} - {(None, None)}
        assert wanted <= {(each[i], each[j]) for each in placings}


def test_the_placings_are_few_and_leave_no_batch_empty() -> None:
    placings = list(covering_placings((1,) * 6))
    assert len(placings) < 20
    assert len({*placings}) == len(placings)
    assert all(any(dim is not None for dim in each) for each in placings)

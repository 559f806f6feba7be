"""Families of variants ask for no more calls than they need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import gradtool.engine as torch
from gradtool.cases.sources import resolve_cases
from gradtool.collect.discovery import checkable_of
from gradtool.config.settings import Settings
from gradtool.explore import families
from gradtool.explore.point import Point, with_value


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return 2 * x

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return 2 * grad_output

    @staticmethod
    def sample_inputs() -> Any:
        yield (torch.rand(3, 3, dtype=torch.float64).requires_grad_(),)


def test_gradients_are_asked_for_only_where_a_matrix_is_symmetric(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("exact_gradients", "read_as_symmetric"):
        monkeypatch.setattr(families, name, None)
    checkable = checkable_of(Doubled)
    (case,) = resolve_cases(checkable, Settings())
    assert list(families._asymmetric(checkable, case, Point.of(checkable, case, "cpu"))) == []


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, scale: Any) -> Any:
        ctx.save_for_backward(scale)
        return x * scale

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return ctx.saved_tensors[0] * grad_output, None

    @staticmethod
    def sample_inputs() -> Any:
        x = torch.rand(3, 2, dtype=torch.float64).requires_grad_()
        yield x, torch.rand(3, 1, dtype=torch.float64)


@pytest.mark.parametrize(
    ("evidence", "axes"),
    [("a call to Layer.forward", {(1, 0), (1, 1)}), ("the source of forward", set())],
)
def test_the_extents_of_constants_that_a_caller_made_stay(
    evidence: str, axes: set[tuple[int, int]]
) -> None:
    checkable = checkable_of(Scaled)
    (given,) = resolve_cases(checkable, Settings())
    case = replace(given, source="inferred", inferred_from=evidence)
    assert families._chosen_axes(case, Point.of(checkable, case, "cpu")) == axes


def picked(table: Any, weights: Any, rows: Any) -> Any:
    """Pick rows of a table, each times its weight.

    :param table: (n_rows, n_columns) tensor
    :param weights: (n_rows,) tensor
    :param rows: (n_picks,) index of a row
    """
    return table[rows] * weights[rows].unsqueeze(1)


def made_of(kernel: Any) -> Any:
    class Picked(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, shares: Any, index: Any) -> Any:
            return kernel(x, shares, index)

        @staticmethod
        def sample_inputs() -> Any:
            x, shares = (torch.rand(*shape, dtype=torch.float64) for shape in ((3, 2), (3,)))
            yield x.requires_grad_(), shares.requires_grad_(), torch.tensor([2, 0, 1, 2])

    return Picked


@pytest.mark.parametrize(("rows", "is_kept"), [(3, True), (4, False)])
def test_variants_keep_to_the_shapes_that_a_kernel_states(rows: int, is_kept: bool) -> None:
    checkable = checkable_of(made_of(picked))
    (case,) = resolve_cases(checkable, Settings())
    point = Point.of(checkable, case, "cpu")
    variant = with_value(point, 0, np.ones((rows, 2)))
    assert families.kept_by(checkable, point, [point])(variant) is is_kept

"""Numbers of quantizers are read from their rounding."""

from __future__ import annotations

import ast

import pytest

from gradtool import engine as torch
from gradtool.adapters.common.binding import parameters_of
from gradtool.cases.inference.clues import read_clues
from gradtool.cases.inference.quantizers import (
    levels,
    ranges_beside_levels,
    ranges_of_quantizers,
)
from gradtool.cases.inference.reading import read
from gradtool.cases.inference.suggestions import suggested


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("y = torch.floor(x / s)\ny = y + 1\ny.clamp(0, top)", [("top", 15)]),
        ("torch.clamp((x / s).round(), -8, top)", [("top", 7)]),
        ("y = x / s\ny.clamp(0, top)", []),
        ("torch.clamp((x / s).round(), 0.5, top)", []),
    ],
)
def test_the_bound_of_what_was_rounded_is_a_number_of_levels(
    code: str, found: list[tuple[str, int]]
) -> None:
    assert list(levels(ast.parse(code), ("top",))) == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("torch.round(x / s.view(-1, 1))", {"s": (0.25, 1.0)}),
        ("y = (x - zero) / s\ny = y.clamp(-8, 7)\ny.round() * s", {"s": (0.25, 1.0)}),
        (
            "k = torch.floor(x / s) + 0.5\ntorch.clamp(k + zero, 0, top)",
            {"s": (0.25, 1.0), "zero": (6.5, 8.5)},
        ),
        ("y = x.round()\ny / s + zero", {}),
    ],
)
def test_steps_are_positive_and_offsets_lie_among_the_levels(
    code: str, found: dict[str, tuple[float, float]]
) -> None:
    assert ranges_of_quantizers(ast.parse(code), ("x", "s", "zero", "top")) == found


class Renamed(torch.autograd.Function):
    """Its backward has other names for what forward saves."""

    @staticmethod
    def forward(ctx, x, step, zero):
        ctx.save_for_backward(x, step.clone(), zero)
        return torch.round((x - zero) / step) * step + zero

    @staticmethod
    def backward(ctx, grad):
        values, size, shift = ctx.saved_tensors
        of_size = (grad * (values / size)).sum().expand_as(size)
        return grad, of_size, grad.sum().expand(shift.shape)


def test_a_gradient_that_is_one_number_is_seen_by_the_name_in_backward() -> None:
    assert read_clues(Renamed, ("x", "step", "zero")).single == {"step"}


class Ranged(torch.autograd.Function):
    """Its bounds are cast, and taken as numbers."""

    @staticmethod
    def forward(ctx, x, top, bottom):
        top, bottom = top.to(x.dtype), bottom.to(x.dtype)
        return x.clamp(bottom.item(), top.item())

    @staticmethod
    def backward(ctx, grad):
        return grad, None, None


def test_what_is_taken_as_a_number_has_one_entry_though_it_is_cast() -> None:
    parameters = parameters_of(Ranged.forward)[1:]
    clues = read_clues(Ranged, tuple(each.name for each in parameters))
    reading = read(Ranged, parameters, clues)
    assert reading is not None
    for parameter in parameters[1:]:
        assert next(suggested(reading, parameter))["shape"] == []


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("x, scale, level_low, level_high, levels", {"scale": (0.25, 1.0)}),
        ("x, step_size, qmin, qmax", {"step_size": (0.25, 1.0)}),
        (
            "x, input_low, input_range, num_bits",
            {"input_low": (-1.0, -0.25), "input_range": (0.25, 1.0)},
        ),
        ("x, scale, offset", {}),
    ],
)
def test_what_stands_beside_levels_is_of_a_quantizer(
    names: str, found: dict[str, tuple[float, float]]
) -> None:
    assert ranges_beside_levels(names.split(", ")) == found

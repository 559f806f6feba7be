"""At ties and kinks a gradient has to be a mean of the gradients around the point."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.results.report import Severity
from gradtool.run.runner import check
from tests.options import check_options

MODULE = """
import torch
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, {names}):
        ctx.save_for_backward({names})
        return {forward}
    @staticmethod
    def backward(ctx, g):
        {names}, = ctx.saved_tensors
        return {backward}
    @staticmethod
    def sample_inputs():
        x = torch.tensor({values}, dtype=torch.{dtype})
        yield tuple(x.clone().requires_grad_() for _ in "{names}".split(","))
"""

TWO_LARGEST = "[0.5, 2.0, -1.0, 2.0]"
ALL_EQUAL = "[0.0, 0.0, 0.0, 0.0, 0.0]"
ROWS = "[[0.5, 2.0, -1.0, 2.0], [1.0, 1.0, 1.0, 0.25], [-3.0, 2.5, 0.0, 1.0]]"
ZEROS = "[0.0, -1.0, 0.0, 2.0]"

LARGEST = "x.amax(-1)"
TAKEN = "(x == x.amax(-1, keepdim=True))"
G = "g.unsqueeze(-1)"
FIRST = f"{G} * torch.zeros_like(x).scatter(-1, x.argmax(-1, keepdim=True), 1.0)"
LAST = (
    f"{G} * torch.zeros_like(x).scatter(-1, x.shape[-1] - 1 - x.flip(-1).argmax(-1, keepdim=True),"
    " 1.0)"
)
EVENLY = f"{G} * {TAKEN} / {TAKEN}.sum(-1, keepdim=True)"
UNEVENLY = (
    f"{G} * {TAKEN} * torch.arange(1, x.shape[-1] + 1)"
    f" / ({TAKEN} * torch.arange(1, x.shape[-1] + 1)).sum(-1, keepdim=True)"
)
TO_EACH = f"{G} * {TAKEN}"
TO_NONE = f"{G} * {TAKEN} * ({TAKEN}.sum(-1, keepdim=True) == 1)"
BY_ALL = f"{G} * torch.where({TAKEN}.sum(-1, keepdim=True) == 1, {TAKEN} * 1.0, {TAKEN} / 8)"

RIGHT = {
    **{
        f"maximum, {share}, {place}": (LARGEST, backward, values)
        for share, backward in {
            "first": FIRST,
            "last": LAST,
            "evenly": EVENLY,
            "unevenly": UNEVENLY,
        }.items()
        for place, values in {"two": TWO_LARGEST, "all": ALL_EQUAL, "rows": ROWS}.items()
    },
    "minimum": ("(-x).amax(-1).neg()", FIRST.replace("argmax", "argmin"), ALL_EQUAL),
    "largest times a negative number": (f"-3 * {LARGEST}", f"-3 * {EVENLY}", ALL_EQUAL),
    "range": (
        "x.amax(-1) - x.amin(-1)",
        f"{FIRST} - {FIRST.replace('argmax', 'argmin')}",
        ALL_EQUAL,
    ),
    "norm at zero": (
        "x.square().sum().sqrt()",
        "g * x / x.square().sum().sqrt().clamp(min=1e-300)",
        ALL_EQUAL,
    ),
    "norm at zero, a side": (
        "x.square().sum().sqrt()",
        "g * torch.where(x.norm() > 0, x / x.norm().clamp(min=1e-300), torch.eye(5)[0].to(x))",
        ALL_EQUAL,
    ),
    "sum of relus, none": ("x.relu().sum()", "g * (x > 0)", ZEROS),
    "sum of relus, all": ("x.relu().sum()", "g * (x >= 0)", ZEROS),
    "sum of relus, half": ("x.relu().sum()", "g * ((x > 0) + 0.5 * (x == 0))", ZEROS),
    "abs": ("x.abs()", "g * torch.where(x >= 0, 1.0, -1.0)", ZEROS),
    "weighed abs": (
        "(x.abs() * torch.tensor([1.0, -1.0, -2.0, 3.0, 1.5])).sum()",
        "g * torch.where(x >= 0, 1.0, -1.0) * torch.tensor([1.0, -1.0, -2.0, 3.0, 1.5])",
        ALL_EQUAL,
    ),
    "differences of relus": (
        "(x.relu() * torch.tensor([1.0, -1.0, 1.0, -1.0])).sum()",
        "g * (x >= 0) * torch.tensor([1.0, -1.0, 1.0, -1.0])",
        ZEROS,
    ),
    "clamp at its bound": ("x.clamp(-1, 2)", "g * ((x > -1) & (x < 2))", ZEROS),
    "clamp at its bound, closed": ("x.clamp(-1, 2)", "g * ((x >= -1) & (x <= 2))", ZEROS),
    "total variation": (
        "(x[1:] - x[:-1]).abs().sum()",
        "g * (torch.nn.functional.pad((x[1:] - x[:-1]).sign(), (1, 0))"
        " - torch.nn.functional.pad((x[1:] - x[:-1]).sign(), (0, 1)))",
        ALL_EQUAL,
    ),
    "sorted": (
        "x.sort(stable=True).values",
        "torch.zeros_like(x).scatter(-1, x.sort(stable=True).indices, g)",
        TWO_LARGEST,
    ),
    "median": (
        "x.median()",
        "g * torch.zeros_like(x).scatter(-1, x.median(0).indices.unsqueeze(-1), 1.0)",
        ALL_EQUAL,
    ),
}

WRONG = {
    **{
        f"maximum, {share}, {place}": (LARGEST, backward, values)
        for share, backward in {"each": TO_EACH, "none": TO_NONE, "by all": BY_ALL}.items()
        for place, values in {"two": TWO_LARGEST, "all": ALL_EQUAL, "rows": ROWS}.items()
    },
    "minimum, each": (
        "x.amin(-1)",
        f"{G} * (x == x.amin(-1, keepdim=True))",
        "[0.5, -2.0, 1.0, -2.0]",
    ),
    "norm at zero, a corner": (
        "x.square().sum().sqrt()",
        "g * torch.where(x.norm() > 0, x / x.norm().clamp(min=1e-300), torch.ones_like(x))",
        ALL_EQUAL,
    ),
    "median, each": (
        "x.median()",
        "g * (x == x.median()) * 1.0",
        ALL_EQUAL,
    ),
    "relu at zero": ("x.relu()", "g * ((x > 0) + 2.0 * (x == 0))", ZEROS),
    "abs at zero": ("x.abs()", "g * (x.sign() + 3.0 * (x == 0))", ZEROS),
    "largest of the other entries, each": (
        f"2 * {LARGEST} + x.square().sum(-1)",
        f"2 * {TO_EACH} + 2 * {G} * x",
        ROWS,
    ),
}

TWO = {
    "x first": ("g * (x >= y), g * (x < y)", True),
    "halves": ("g * ((x > y) + 0.5 * (x == y)), g * ((x < y) + 0.5 * (x == y))", True),
    "both": ("g * (x >= y), g * (x <= y)", False),
    "neither": ("g * (x > y), g * (x < y)", False),
}


def broken(
    folder: Path,
    forward: str,
    backward: str,
    values: str,
    names: str = "x",
    dtype: str = "double",
    **options: bool,
) -> set[str]:
    (folder / "f.py").write_text(
        MODULE.format(names=names, forward=forward, backward=backward, values=values, dtype=dtype)
    )
    report = check(
        check_options(paths=(str(folder / "f.py"),), select=("GT101",), explore="off", **options)
    )
    return {each.rule for each in report.findings() if each.severity is not Severity.NOTE}


@pytest.mark.parametrize("witness", [True, False])
@pytest.mark.parametrize("name", RIGHT)
def test_any_mean_of_the_gradients_around_a_tie_passes(tmp_path, name, witness):
    assert broken(tmp_path, *RIGHT[name], witness=witness) == set()


@pytest.mark.parametrize("witness", [True, False])
@pytest.mark.parametrize("name", WRONG)
def test_a_tie_that_counts_twice_or_not_at_all_is_wrong(tmp_path, name, witness):
    assert broken(tmp_path, *WRONG[name], witness=witness) == {"GT101"}


def test_a_tie_that_no_entry_shows_by_itself_is_seen_by_the_witness(tmp_path):
    backward = "g * ((x == x.median()) & ((x == x.median()).sum() == 1))"
    assert broken(tmp_path, "x.median()", backward, ALL_EQUAL) == {"GT101"}


@pytest.mark.parametrize("witness", [True, False])
@pytest.mark.parametrize("name", TWO)
def test_ties_between_two_tensors_are_shared_out_too(tmp_path, name, witness):
    backward, is_right = TWO[name]
    found = broken(tmp_path, "torch.maximum(x, y)", backward, ROWS, names="x, y", witness=witness)
    assert found == (set() if is_right else {"GT101"})


@pytest.mark.parametrize(("backward", "expected"), [(FIRST, set()), (TO_EACH, {"GT101"})])
def test_a_tie_in_float32_is_judged_as_well(tmp_path, backward, expected):
    assert broken(tmp_path, LARGEST, backward, ROWS, dtype="float") == expected

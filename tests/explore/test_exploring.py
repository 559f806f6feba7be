"""The effort of exploring, its findings, and the cases that they give to keep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradtool.explore.traits import reshaped, restored, traits
from gradtool.results.report import Finding
from gradtool.run.runner import check
from gradtool.sandbox.timeout import TimedOut
from tests.options import check_options

WRONG = Path(__file__).parent / "corpus" / "wrong"


def findings(
    explore: str, function: str = "numbers.py::SwishWithoutBeta", seed: int = 0
) -> list[Finding]:
    paths = (str(WRONG / function),)
    asked = ("GT101", "GT601")
    options = check_options(paths=paths, explore=explore, select=asked, seed=seed)
    return list(check(options).findings())


def test_nothing_is_explored_where_it_is_off() -> None:
    assert findings("off") == []


def test_the_same_seed_finds_the_same() -> None:
    one, other = findings("quick", seed=3), findings("quick", seed=3)
    assert [each.message for each in one] == [each.message for each in other]
    assert one[0].case == other[0].case


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize(
    "function",
    ["dtypes.py::UnliftedNorm", "indices.py::SegmentShares", "magnitudes.py::VarianceInOnePass"],
)
def test_a_mistake_that_roundings_may_hide_is_found_with_other_seeds(
    function: str, seed: int
) -> None:
    assert findings("quick", function, seed)


def test_what_was_found_before_the_time_ran_out_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(*_: object) -> None:
        raise TimedOut

    monkeypatch.setattr("gradtool.explore.explorer.shrunk", late)
    (found,) = findings("quick")
    assert "where `beta` is 0.6, not 1.0" in found.message


def test_a_finding_names_the_change_and_gives_the_case_to_keep() -> None:
    (found,) = findings("quick")
    assert "where `beta` is 0.6, not 1.0 (otherwise the same as case 'sample1')" in found.message
    assert str(found.case).startswith("SwishWithoutBeta: {cases: [{args: [")


def test_a_kept_case_shows_the_mistake_without_exploring(tmp_path: Path) -> None:
    (found,) = findings("quick")
    assert found.case is not None
    (tmp_path / "numbers.py").write_bytes((WRONG / "numbers.py").read_bytes())
    (tmp_path / "gradtool.yaml").write_text(
        f"version: 1\nfunctions:\n  {found.case}\n", encoding="utf-8"
    )
    path = f"{tmp_path / 'numbers.py'}::SwishWithoutBeta"
    kept = check(check_options(paths=(path,), explore="off", select=("GT101",), isolated=False))
    assert [each.rule for each in kept.findings()] == ["GT101"]


def test_values_that_are_next_to_nothing_become_ordinary(tmp_path: Path) -> None:
    source = """
from gradtool import Function, tensor

class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        return x.exp()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output

    @staticmethod
    def sample_inputs():
        yield (tensor([1e-20, 2e-20]).double().requires_grad_(),)
"""
    (tmp_path / "ops.py").write_text(source)
    options = check_options(paths=(f"{tmp_path}/ops.py",), select=("GT101",), explore="quick")
    (found,) = check(options).findings()
    assert "where values of `x` are about 1" in found.message


def test_a_finding_is_shrunk() -> None:
    (found,) = findings("quick", "extents.py::ChunkedSquares")
    assert "`x` has the shape [3, 3]" in found.message


def test_only_the_options_that_matter_are_changed() -> None:
    (found,) = findings("quick", "choices.py::TemperedScores")
    assert "`reduction` is 'none', not 'mean', and `beta` is 1.7" in found.message
    assert "is_causal" not in found.message
    assert "in_logs" not in found.message


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (np.array([0.1, 0.4, 0.9, 1.5]), "sorted"),
        (np.array([[0.2, 0.8], [0.5, 0.5]]), "sums to one"),
        (np.array([[2.0, 0.5], [0.5, 3.0]]), "symmetric"),
        (np.array([[0.6, 0.8], [0.8, -0.6]]), "unit rows"),
    ],
)
def test_a_trait_is_kept_by_other_values_and_other_extents(array: np.ndarray, name: str) -> None:
    assert name in [trait.name for trait in traits(array)]
    shape = tuple(extent + 1 for extent in array.shape)
    grown = reshaped(array, shape, np.random.default_rng(0))
    for made in (
        restored(array, array * np.linspace(0.7, 0.9, array.size).reshape(array.shape)),
        grown,
    ):
        assert made is not None
        assert name in [trait.name for trait in traits(made)]


ONE_SIDED = """
import torch
from torch.autograd import Function


class LargerThanSine(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.maximum(x, x.sin())

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.where(x > x.sin(), grad_output, {slope} * grad_output)

    @staticmethod
    def sample_inputs():
        yield (torch.tensor({values}, dtype=torch.double, requires_grad=True),)
"""


@pytest.mark.parametrize("values", ["[0.7]", "[0.9, 0.4]", "[-0.7, -0.2, -0.4]"])
def test_the_other_side_of_a_comparison_may_have_the_other_sign(
    values: str, tmp_path: Path
) -> None:
    module = tmp_path / "one_sided.py"
    options = check_options(paths=(str(module),), explore="quick")
    for slope, rules in (("x.cos()", set()), ("x.cos() * 0.5", {"GT101"})):
        module.write_text(ONE_SIDED.format(slope=slope, values=values), encoding="utf-8")
        wrong = {finding.rule for finding in check(options).findings()}
        assert wrong == rules


BETWEEN = """
import torch
from torch.autograd import Function


class Between(Function):
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x, low, high)
        return torch.minimum(torch.maximum(x, low), high)

    @staticmethod
    def backward(ctx, grad_output):
        x, low, high = ctx.saved_tensors
        below, above = x < low, x > high
        inside = ~(below | above)
        return grad_output * inside, grad_output * below, grad_output * above
"""


def test_a_lower_bound_stays_below_the_upper_one(tmp_path: Path) -> None:
    (tmp_path / "between.py").write_text(BETWEEN, encoding="utf-8")
    for explore in ("quick", "deep"):
        options = check_options(paths=(str(tmp_path / "between.py"),), explore=explore)
        report = check(options)
        assert not list(report.findings())
        assert report.modules[0].functions[0].cases

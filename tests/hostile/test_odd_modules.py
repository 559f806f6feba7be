"""An odd module is named, and all others are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import runs
from tests.hostile.modules import HEAD, function
from tests.hostile.odd_modules import ODD

MATRIX = """
class Product(Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return torch.tanh(x @ weight)

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        inner = grad_output * (1 - torch.tanh(x @ weight) ** 2)
        return inner @ weight.T, x.T @ inner

    @staticmethod
    def sample_inputs():
        yield torch.randn(64, 96, requires_grad=True), torch.randn(96, 65, requires_grad=True)
"""

pytestmark = pytest.mark.skipif(runs.needs_fork, reason="isolation needs fork")


def test_every_odd_module_is_named_and_the_others_are_checked(tmp_path: Path) -> None:
    runs.write(
        tmp_path, **ODD, a_right=HEAD + function(right=True), z_wrong=HEAD + function(right=False)
    )
    status, report = runs.check(tmp_path, *[f"{name}.py" for name in ("a_right", *ODD, "z_wrong")])
    assert status == 1
    assert runs.passes(report, "a_right.py")
    assert runs.found_in(report, "z_wrong.py") == {"GT101"}
    for name in ODD:
        assert runs.found_in(report, f"{name}.py") == {"GT001"}, name


def test_a_report_depends_on_what_is_checked_alone(tmp_path: Path) -> None:
    runs.write(tmp_path, a=HEAD + function(right=True), b=HEAD + function(right=False))
    runs.write(tmp_path, c=ODD["wrapped_cycle"], d=HEAD + MATRIX)
    files = [f"{name}.py" for name in "abcd"]
    found = []
    for jobs, seed, threads, given in (
        ("1", "0", "1", files),
        ("2", "77", "7", files[::-1]),
        ("2", "5", "2", ["."]),
    ):
        threading = {f"{name}_NUM_THREADS": threads for name in ("OPENBLAS", "OMP", "MKL")}
        _, report = runs.check(tmp_path, *given, "-j", jobs, PYTHONHASHSEED=seed, **threading)
        found.append(runs.timeless(report))
    assert found[0] == found[1] == found[2]

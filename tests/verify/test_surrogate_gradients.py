"""A gradient that is meant to be another than the derivative is told from a mistake."""

from __future__ import annotations

import pytest

from gradtool.run.runner import check
from tests.options import check_options

FUNCTION = """
import torch
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {forward}
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return {backward}
    @staticmethod
    def sample_inputs():
        values = [-1.7, -0.6, 0.3, 0.8, 1.9]
        yield (torch.tensor(values, dtype=torch.double, requires_grad=True),)
"""

MEANT = {
    "a straight-through estimator": ("x.round()", "g"),
    "a straight-through estimator ": ("x.sign()", "g * (x.abs() <= 1)"),
    "a surrogate gradient": ("(x > 0).to(x.dtype)", "g / (1 + 10 * x.abs()) ** 2"),
    "gradient reversal": ("x.view_as(x)", "-0.5 * g"),
    "gradient scaling": ("x.clone()", "0.1 * g"),
    "a masked gradient": ("x.clone()", "g * (x > 0)"),
    "gradient clipping": ("x.clone()", "g.clamp(-0.5, 0.5)"),
}
MISTAKES = {
    "factor": ("x * x", "g * x"),
    "sign": ("x.sin()", "-g * x.cos()"),
    "sum": ("x.sum()", "-g.expand(5)"),
    "square": ("x.cumsum(0)", "g"),
}


def hint(tmp_path, forward, backward):
    (tmp_path / "f.py").write_text(FUNCTION.format(forward=forward, backward=backward))
    report = check(check_options(paths=(str(tmp_path / "f.py"),), select=("GT101", "GT107")))
    (finding,) = report.findings()
    return finding.hint or ""


@pytest.mark.parametrize("name", MEANT)
def test_what_is_meant_is_named_with_the_way_to_declare_it(tmp_path, name):
    said = hint(tmp_path, *MEANT[name])
    code = "GT107" if "clipping" in name else "GT101"
    assert f"this looks like {name.strip()}: if it is meant, declare it" in said
    assert f"`ignore: {{{code}: the reason}}`" in said


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_not_excused(tmp_path, name):
    assert "looks like" not in hint(tmp_path, *MISTAKES[name])

"""A gradient that is meant to be another than the derivative is told from a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.results.report import Finding, Report, Severity, Verdict
from gradtool.run.runner import check
from tests.options import check_options

FUNCTION = """
import torch
class {name}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        {save}
        return {forward}
    @staticmethod
    def backward(ctx, g):
        {load}
        return {backward}
    @staticmethod
    def sample_inputs():
        values = [-1.7, -0.6, 0.3, 0.8, 1.9]
        yield (torch.tensor(values, dtype=torch.double, requires_grad=True),)
"""

MEANT = {
    "a straight-through estimator": ("x.round()", "g"),
    "a straight-through estimator ": ("x.sign()", "g * (x.abs() <= 1)"),
    "a straight-through estimator  ": ("(x * 7 / x.abs().max()).round() * x.abs().max() / 7", "g"),
    "a straight-through estimator   ": (
        "(x / x.abs().mean()).round().clamp(-1, 1) * x.abs().mean()",
        "g",
    ),
    "a straight-through estimator     ": (
        "(x.float() * 127 / x.abs().max().float()).round().to(x.dtype) * x.abs().max() / 127",
        "g",
    ),
    "a straight-through estimator    ": ("x.sign() * x.abs().mean()", "g"),
    "a straight-through estimator of a clamp": ("x.clamp(-1, 1)", "g"),
    "a straight-through estimator of a clamp ": ("x.clamp(min=0.5)", "g"),
    "a surrogate gradient of a clamp": (
        "x.clamp(0, 1)",
        "torch.where((x < 0) | (x > 1), g * torch.exp(-(2 * x - 1).abs()), g)",
    ),
    "a surrogate gradient": ("(x > 0).to(x.dtype)", "g / (1 + 10 * x.abs()) ** 2"),
    "a surrogate gradient ": ("(x.sum() > 0).to(x.dtype)", "g * torch.exp(-x.abs())"),
    "gradient reversal": ("x.view_as(x)", "-0.5 * g"),
    "gradient scaling": ("x.clone()", "0.1 * g"),
    "a masked gradient": ("x.clone()", "g * (x > 0)"),
}
NOT_LINEAR = {
    "a gradient changed on purpose": ("x.clone()", "g.clamp(-0.5, 0.5)"),
    "a gradient changed on purpose ": ("x.clone()", "g + 0.1 * x"),
    "a gradient gated by its sign": ("x.clamp(min=0)", "g * ((x > 0) & (g > 0))"),
    "a gradient gated by its sign ": ("x.clamp(min=-0.7)", "g * ((x >= -0.7) | (g < 0))"),
}
RIGHT_AT_THE_CASE = ("x.clamp(min=-0.7)", "g * ((x >= -0.7) | (g < 0))", "[-2.0, -1, 0, 1, 2]")
MISTAKES = {
    "factor": ("x * x", "g * x"),
    "sign": ("x.sin()", "-g * x.cos()"),
    "sum": ("x.sum()", "-g.expand(5)"),
    "square": ("x.cumsum(0)", "g"),
    "relu": ("x.clamp(min=0)", "g"),
    "exp": ("x.exp()", "g"),
    "maximum": ("x.max().expand(5).clone()", "g"),
    "size": ("x * x.abs().max()", "g"),
    "normalized": ("x / x.abs().max()", "g"),
    "softmax": ("x.softmax(0)", "g"),
    "clamp with a saved input": ("x.clamp(-1, 1)", "g + 0 * x"),
    "clamp with a leak": ("x.clamp(-1, 1)", "torch.where(x.abs() > 1, 0.01 * g, g)"),
    "clamp with a slope of the input": ("x.clamp(-1, 1)", "torch.where(x.abs() > 1, g * x, g)"),
    "upside down": ("x.clone()", "g.flip(0)"),
    "irrelevant": ("torch.ones_like(x)", "g"),
    "gate": ("x.clamp(min=0)", "g.clamp(min=0)"),
    "negated relu": ("x.relu()", "-g * (x > 0)"),
    "doubled relu": ("x.relu()", "2 * g * (x > 0)"),
    "swapped relu": ("x.relu()", "g * (x <= 0)"),
    "negated abs": ("x.abs()", "-g * x.sign()"),
    "doubled abs": ("x.abs()", "2 * g * x.sign()"),
    "swapped abs": ("x.abs()", "g * (1 - x.sign())"),
    "negated leaky relu": ("torch.where(x > 0, x, 0.1 * x)", "-g * torch.where(x > 0, 1, 0.1)"),
}


def source(forward: str, backward: str, name: str = "F") -> str:
    uses_x = "x" in backward.replace("exp", "").replace("expand", "")
    save = "ctx.save_for_backward(x)" if uses_x else "pass"
    load = "(x,) = ctx.saved_tensors" if uses_x else "pass"
    return FUNCTION.format(name=name, forward=forward, backward=backward, save=save, load=load)


def checked(folder: Path, text: str, configuration: str = "") -> Report:
    (folder / "f.py").write_text(text)
    (folder / "gradtool.yaml").write_text(f"version: 1\n{configuration}")
    return check(check_options(paths=(str(folder / "f.py"),)))


def findings(report: Report) -> list[Finding]:
    return [each for each in report.findings() if each.severity is not Severity.NOTE]


def verdict(report: Report, code: str) -> Verdict:
    (found,) = (each.verdict for each in report.checks() if each.rule == code)
    return found


@pytest.mark.parametrize("name", MEANT)
def test_what_is_meant_is_a_warning_with_the_declaration_to_paste(tmp_path, name):
    (finding,) = findings(checked(tmp_path, source(*MEANT[name])))
    assert (finding.rule, finding.severity) == ("GT120", Severity.WARNING)
    assert finding.message.endswith(f"it looks like {name.strip()}")
    assert (finding.hint or "").endswith("functions:\nF: {surrogate: [x], reason: WHY}")


def test_a_gate_that_is_right_at_the_case_is_no_stale_gradient(tmp_path):
    forward, backward, values = RIGHT_AT_THE_CASE
    code = source(forward, backward).replace("[-1.7, -0.6, 0.3, 0.8, 1.9]", values)
    assert [each.rule for each in findings(checked(tmp_path, code))] == ["GT120"]


def test_a_point_beside_an_edge_does_not_hide_a_step(tmp_path):
    """Outputs in float32 are differenced over larger steps, which may cross an edge."""
    code = source("(x / 0.75).trunc().float()", "g / (1 + x * x)")
    code = code.replace("0.3, 0.8, 1.9]", "0.3, 0.8, 2.249]")
    (finding,) = findings(checked(tmp_path, code))
    assert (finding.rule, finding.message[-20:]) == ("GT120", "a surrogate gradient")


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_one_that_is_not_linear_says_what_else_to_ignore(tmp_path, name):
    (finding,) = findings(checked(tmp_path, source(*NOT_LINEAR[name])))
    assert finding.rule == "GT120"
    assert finding.message.endswith(f"it looks like {name.strip()}")
    entry = "F: {surrogate: [x], reason: WHY, ignore: {GT107: WHY}}"
    assert (finding.hint or "").endswith(f"under functions:\n{entry}")
    declared = f"functions:\n  {entry}"
    assert findings(checked(tmp_path, source(*NOT_LINEAR[name]), declared)) == []


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_not_excused(tmp_path, name):
    report = checked(tmp_path, source(*MISTAKES[name]))
    assert {finding.rule for finding in findings(report)} & {"GT101", "GT107"}
    assert verdict(report, "GT120") is not Verdict.FAIL


def test_a_complex_factor_that_was_forgotten_is_a_mistake(tmp_path):
    code = source("x * 2j", "g").replace("torch.double", "torch.cdouble")
    (first, *_) = findings(checked(tmp_path, code))
    assert first.rule == "GT101"


PLACES = {
    "mixed": "[-1.7, -0.6, 0.3, 0.8, 1.9]",
    "positive": "[1.7, 0.6, 0.3, 0.8, 1.9]",
    "negative": "[-1.7, -0.6, -0.3, -0.8, -1.9]",
    "one": "[0.7]",
    "tiny": "[1e-9, -2e-9, 3e-9]",
}
SMOOTH_SOMEWHERE = {
    "relu": ("x.relu()", "(x > 0)"),
    "abs": ("x.abs()", "x.sign()"),
    "sine": ("x.sin()", "x.cos()"),
    "clamp": ("x.clamp(-0.5, 2.5)", "((x > -0.5) & (x < 2.5))"),
}
WRONGLY = {"negated": "-g * {}", "doubled": "2 * g * {}", "infinite": "g * {} + float('inf')"}


@pytest.mark.parametrize("mistake", WRONGLY)
@pytest.mark.parametrize("name", SMOOTH_SOMEWHERE)
def test_a_forward_that_returns_its_input_here_only_excuses_nothing(tmp_path, name, mistake):
    forward, derivative = SMOOTH_SOMEWHERE[name]
    for place, values in PLACES.items():
        if place == "negative" and name in ("relu", "clamp") and mistake != "infinite":
            continue  # Nearly all of the gradient is zero there, however it is scaled.
        text = source(forward, WRONGLY[mistake].format(derivative))
        text = text.replace("[-1.7, -0.6, 0.3, 0.8, 1.9]", values)
        found = {finding.rule for finding in findings(checked(tmp_path, text))}
        assert found & {"GT101", "GT107", "GT114"}, place
        assert "GT120" not in found, place


MAXIMUM = """
import torch
class Maximum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.maximum(x, y)
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return {backward}
    @staticmethod
    def sample_inputs():
        x = torch.tensor({x}, dtype=torch.double, requires_grad=True)
        y = torch.tensor([0.4, -1.2, 0.6], dtype=torch.double, requires_grad=True)
        yield x, y
"""


@pytest.mark.parametrize("x", ["[1.0, 1.5, 2.0]", "[-1.0, -1.5, -2.0]", "[0.1, 1.5, -0.3]"])
@pytest.mark.parametrize(
    "backward",
    [
        "-g * (x > y), -g * (x <= y)",
        "2 * g * (x > y), 2 * g * (x <= y)",
        "g * (x <= y), g * (x > y)",
        "g, g",
    ],
)
def test_a_wrong_gradient_of_a_maximum_is_a_mistake(tmp_path, backward, x):
    found = findings(checked(tmp_path, MAXIMUM.format(backward=backward, x=x)))
    assert {finding.rule for finding in found} == {"GT101"}


OF_PAIR = MAXIMUM.replace("torch.maximum(x, y)", "{forward}").replace(
    "yield x, y", "yield x, {second}"
)


def test_a_learnt_slope_belongs_to_the_surrogate(tmp_path):
    slope = "g * y / (1 + (y * x) ** 2), g * x / (1 + (y * x) ** 2)"
    text = OF_PAIR.format(
        forward="(x > 0).to(x.dtype)", backward=slope, x="[1.0, -1.5, 2.0]", second="y"
    )
    (finding,) = findings(checked(tmp_path, text))
    assert finding.rule == "GT120"
    assert "gradient of `x` and `y` is not the derivative" in finding.message
    entry = "Maximum: {surrogate: [x, y], reason: WHY}"
    assert (finding.hint or "").endswith(f"under functions:\n{entry}")
    declared = f"functions:\n  {entry}"
    assert findings(checked(tmp_path, text, declared)) == []


def test_a_value_may_come_with_a_gradient_that_was_computed_elsewhere(tmp_path):
    text = OF_PAIR.format(
        forward="2 * y", backward="3 * g, None", x="[1.0, -1.5, 2.0]", second="y.detach()"
    )
    (finding,) = findings(checked(tmp_path, text))
    assert finding.rule == "GT120"
    assert "a gradient attached to a value that was computed elsewhere" in finding.message


def test_a_function_may_be_named_for_the_gradient_that_it_replaces(tmp_path):
    text = OF_PAIR.format(forward="1 * y", backward="g, g", x="[1.0, -1.5, 2.0]", second="y")
    assert {finding.rule for finding in findings(checked(tmp_path, text))} == {"GT101"}
    text = text.replace("Maximum", "ReplaceGrad")
    assert {finding.rule for finding in findings(checked(tmp_path, text))} == {"GT120"}


@pytest.mark.parametrize(
    ("forward", "backward"),
    [("2 * x", "2 * g, 3 * g"), ("2 * x", "3 * g, 3 * g")],
)
def test_a_gradient_of_an_ignored_argument_beside_others_is_a_mistake(tmp_path, forward, backward):
    text = OF_PAIR.format(forward=forward, backward=backward, x="[1.0, -1.6, 2.1]", second="y")
    assert {finding.rule for finding in findings(checked(tmp_path, text))} == {"GT101"}


def test_a_gradient_through_rounding_is_one_beside_a_mistake(tmp_path):
    text = OF_PAIR.format(
        forward="x.round() + y", backward="g, 3 * g", x="[1.0, -1.6, 2.1]", second="y"
    )
    said = {finding.rule: finding.message for finding in findings(checked(tmp_path, text))}
    assert said.keys() == {"GT101", "GT120"}
    assert "gradient of `y` differs" in said["GT101"]
    assert "gradient of `x` is not the derivative" in said["GT120"]


def test_a_relu_that_is_flat_at_its_case_is_no_step(tmp_path):
    text = source("x.relu()", "g * torch.ones_like(x)")
    text = text.replace("[-1.7, -0.6, 0.3, 0.8, 1.9]", "[-1.7, -0.6, -0.3]")
    assert {finding.rule for finding in findings(checked(tmp_path, text))} == {"GT101"}


def test_a_random_gradient_is_meant_where_forward_does_nothing(tmp_path):
    noisy = source("x.clone()", "g + torch.rand_like(g)")
    (finding,) = findings(checked(tmp_path, noisy))
    assert finding.rule == "GT120"
    entry = "F: {surrogate: [x], reason: WHY, ignore: {GT110: WHY}}"
    assert (finding.hint or "").endswith(f"under functions:\n{entry}")
    declared = f"functions:\n  {entry}"
    assert findings(checked(tmp_path, noisy, declared)) == []


def test_a_random_gradient_of_anything_else_is_a_mistake(tmp_path):
    (finding,) = findings(checked(tmp_path, source("2 * x", "2 * g + torch.rand_like(g)")))
    assert finding.rule == "GT110"


DECLARED = "functions: {F: {surrogate: [x], reason: rounds on purpose}}"


def test_a_declared_surrogate_passes(tmp_path):
    report = checked(tmp_path, source("x.round()", "g"), DECLARED)
    assert findings(report) == []


@pytest.mark.parametrize(
    ("code", "backward"),
    [("GT103", "g.sum()"), ("GT107", "g * g"), ("GT112", "torch.tensor(g.stride()[0]) * g")],
)
def test_a_declared_surrogate_is_still_checked(tmp_path, code, backward):
    report = checked(tmp_path, source("x.round()", backward), DECLARED)
    assert [finding.rule for finding in findings(report)] == [code]


TWO = """
import torch
def soft(x, slope):
    return torch.sigmoid(slope * x)
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, slope):
        ctx.save_for_backward(x, w)
        ctx.slope = slope
        return (x > 0).to(x.dtype) + w * w
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        s = torch.sigmoid(ctx.slope * x)
        return g * {x} * s * (1 - s), g * {w} * w, None
    @staticmethod
    def sample_inputs():
        values = torch.tensor([-1.7, -0.6, 0.3], dtype=torch.double)
        yield values.clone().requires_grad_(), (values + 3).requires_grad_(), 2.0
"""
INTENDED = "functions: {F: {surrogate: [x], surrogate_of: soft, reason: spikes}}"


def test_other_inputs_stay_exact(tmp_path):
    declared = "functions: {F: {surrogate: [x], reason: spikes}}"
    assert findings(checked(tmp_path, TWO.format(x="ctx.slope", w="2"), declared)) == []
    (finding,) = findings(checked(tmp_path, TWO.format(x="ctx.slope", w="3"), declared))
    assert (finding.rule, finding.evidence.argument) == ("GT101", "w")


def test_a_surrogate_is_compared_with_the_function_it_stands_for(tmp_path):
    right = checked(tmp_path, TWO.format(x="ctx.slope", w="2"), INTENDED)
    assert (findings(right), verdict(right, "GT101")) == ([], Verdict.PASS)
    (finding,) = findings(checked(tmp_path, TWO.format(x="1", w="2"), INTENDED))
    assert finding.rule == "GT101"
    assert "surrogate gradient of `x` differs from the derivative of `soft`" in finding.message


@pytest.mark.parametrize(
    ("declaration", "said"),
    [
        (
            "{surrogate: [x, y], reason: a}",
            "functions.F.surrogate[1]: forward has no argument 'y'; it has x",
        ),
        (
            "{surrogate: [x], surrogate_of: softer, reason: a}",
            "functions.F.surrogate_of: the module has no function 'softer'",
        ),
    ],
)
def test_a_declaration_that_fits_nothing_is_refused_at_its_line(tmp_path, declaration, said):
    report = checked(tmp_path, TWO.format(x="1", w="2"), f"functions: {{F: {declaration}}}")
    (finding,) = findings(report)
    assert finding.rule == "GT002"
    assert finding.message.startswith(said)
    assert (Path(finding.location.path).name, finding.location.line) == ("gradtool.yaml", 2)


QUANTIZER = """
import torch
class LearnedStep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward(x, s)
        return (x / s).round().clamp(-4, 3) * s
    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        q = x / s
        inside = (q >= -4) & (q <= 3)
        by_s = torch.where(inside, q.round() - q, q.clamp(-4, 3)) * g * {factor}
        return g * inside, by_s.sum().reshape(s.shape)
    @staticmethod
    def sample_inputs():
        x = torch.tensor([-3.1, -0.62, 0.25, 0.33, 1.9], dtype=torch.double)
        yield x.requires_grad_(), torch.tensor([0.4], dtype=torch.double, requires_grad=True)
"""


@pytest.mark.parametrize("factor", ["1", "0.1"])
def test_the_step_of_a_quantizer_is_part_of_its_surrogate(tmp_path, factor):
    found = findings(checked(tmp_path, QUANTIZER.format(factor=factor)))
    assert {finding.rule for finding in found} == {"GT120"}
    assert {"surrogate: [x, s]" in (finding.hint or "") for finding in found} == {True}


def test_a_wrong_step_of_a_quantizer_is_a_mistake(tmp_path):
    found = findings(checked(tmp_path, QUANTIZER.format(factor="x.abs()")))
    assert "GT101" in {finding.rule for finding in found}


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("ClampSteFn", "GT120"),
        ("ClampSTE", "GT120"),
        ("RedirectedClamp", "GT120"),
        ("ClampSteep", "GT101"),
    ],
)
def test_a_name_that_says_straight_through_is_believed(tmp_path, name, rule):
    code = source("x.clamp(min=0)", "g", name=name)
    assert [each.rule for each in findings(checked(tmp_path, code))] == [rule]


OF_SCALE = """
import torch
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return {forward}
    @staticmethod
    def backward(ctx, g):
        x, scale = ctx.saved_tensors
        return {x}, {scale}
    @staticmethod
    def sample_inputs():
        values = [-1.7, -0.6, 0.3, 0.8, 1.9]
        x = torch.tensor(values, dtype=torch.double, requires_grad=True)
        yield x, torch.tensor([0.3], dtype=torch.double, requires_grad=True)
"""
CLIPPED = "torch.clamp(x, 0, scale.item()).mul(3 / scale).round() * scale / 3"
LEARNT = "(x / scale).round().clamp(-2, 1) * scale"
WITHIN = "(x / scale >= -2.5) & (x / scale <= 1.5)"
ROUNDED = f"torch.where({WITHIN}, (x / scale).round() - x / scale, (x / scale).clamp(-2, 1))"
SCALES = {
    "clipped at its scale": (
        CLIPPED,
        "g * ((x >= 0) & (x <= scale))",
        "(g * (x >= scale)).sum(0, True)",
    ),
    "learnt step": (LEARNT, f"g * ({WITHIN})", f"(g * {ROUNDED}).sum(0, True)"),
    "slower step": (LEARNT, f"g * ({WITHIN})", f"0.1 * (g * {ROUNDED}).sum(0, True)"),
}


@pytest.mark.parametrize("name", SCALES)
def test_the_scale_of_a_quantizer_is_differentiated_through_its_rounding(tmp_path, name):
    forward, x, scale = SCALES[name]
    found = findings(checked(tmp_path, OF_SCALE.format(forward=forward, x=x, scale=scale)))
    assert {each.rule for each in found} == {"GT120"}


OF_OFFSET = """
import torch
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, offset):
        steps = (x - offset) / scale
        kept = steps.clamp(-2, 1)
        ctx.inside = steps == kept
        ctx.error = torch.where(ctx.inside, kept.round() - kept, kept)
        return kept.round() * scale + offset
    @staticmethod
    def backward(ctx, g):
        of_offset = {offset}
        return g * ctx.inside, (g * ctx.error).sum(0, True), of_offset.sum(0, True)
    @staticmethod
    def sample_inputs():
        x = torch.tensor([{x}], dtype=torch.double, requires_grad=True)
        scale = torch.tensor([0.3], dtype=torch.double, requires_grad=True)
        yield x, scale, torch.tensor([0.05], dtype=torch.double, requires_grad=True)
"""


@pytest.mark.parametrize("x", ["-1.7, -0.43, 0.12, 0.31, 1.9", "-0.43, -0.07, 0.12, 0.31"])
def test_the_offset_of_a_quantizer_has_no_gradient_within_its_bounds(tmp_path: Path, x: str):
    code = OF_OFFSET.format(x=x, offset="g * ~ctx.inside")
    assert {each.rule for each in findings(checked(tmp_path, code))} <= {"GT120", "GT505"}


def test_an_offset_without_the_gradient_beyond_the_bounds_is_a_mistake(tmp_path: Path):
    code = OF_OFFSET.format(x="-1.7, -0.43, 0.12, 0.31, 1.9", offset="0 * g")
    assert "GT101" in {each.rule for each in findings(checked(tmp_path, code))}


@pytest.mark.parametrize("name", SCALES)
def test_the_scale_of_a_quantizer_with_a_mistake_is_wrong(tmp_path, name):
    forward, x, scale = SCALES[name]
    for wrong in (f"-{scale}", f"{scale} + g.sum()"):
        found = findings(checked(tmp_path, OF_SCALE.format(forward=forward, x=x, scale=wrong)))
        assert "GT101" in {each.rule for each in found}


IS_CONSTANT = "One factor is treated as a constant."
SAID = [
    ("x.round()", "g", "A straight-through estimator.", "GT120", Severity.NOTE),
    ("x.round()", "g", "Rounds.", "GT120", Severity.WARNING),
    ("x.clamp(min=0)", "g", "Passes the gradient of the identity.", "GT120", Severity.NOTE),
    ("x.clamp(min=0)", "g", "Rectifies.", "GT101", Severity.ERROR),
    ("x.exp()", "g * x", "The epsilon rule of LRP.", "GT120", Severity.NOTE),
    ("x.exp()", "g * x", "The exponential.", "GT101", Severity.ERROR),
    ("1.25 * x.exp()", "g * x.exp() / 4", "exp(sg(x)) + exp(x) / 4", "GT120", Severity.NOTE),
    ("1.25 * x.exp()", "g * x.exp() / 4", "The exponential.", "GT101", Severity.ERROR),
    ("1.25 * x.exp()", "g * x.exp() * 2", "exp(sg(x)) + exp(x) / 4", "GT101", Severity.ERROR),
    ("1.25 * x.exp()", "g * x / 4", "A stop-gradient.", "GT101", Severity.ERROR),
    ("x.sin() * x.exp()", "g * x.exp() * x.cos()", IS_CONSTANT, "GT120", Severity.NOTE),
    ("x.sin() * x.exp()", "g * x.exp() * x.sin()", IS_CONSTANT, "GT120", Severity.NOTE),
    ("x.sin() * x.exp()", "g * x.exp() * x.cos()", "Grows.", "GT101", Severity.ERROR),
    (
        "x.sin() * x.exp()",
        "g * x.exp() * x.cos()",
        "`x` is held constant.",
        "GT101",
        Severity.ERROR,
    ),
    ("x.sin() * x.exp()", "g * x.exp() * x.cos()", "X is held constant.", "GT101", Severity.ERROR),
    ("x.sin() * x.exp()", "-g * x.exp() * x.cos()", IS_CONSTANT, "GT101", Severity.ERROR),
    (
        "x.sin() * x.exp()",
        "g * x.exp() * x.cos()",
        "The sine, whose weights count as constants.",
        "GT120",
        Severity.NOTE,
    ),
    (
        "x.sin() + x * x.exp()",
        "g * (x.cos() + x.exp())",
        "The second term treats x as constant.",
        "GT120",
        Severity.NOTE,
    ),
    ("x.clone()", "-g", "The identity, its sign reversed twice.", "GT120", Severity.WARNING),
]


def test_a_module_of_one_function_may_declare_its_surrogate(tmp_path):
    said = '"""Rounding with a straight-through estimator."""\n'
    code = said + source("x.round()", "g")
    (finding,) = checked(tmp_path, code).findings()
    assert finding.severity is Severity.NOTE
    other = "\n\nclass Other(torch.autograd.Function):\n    pass\n"
    (finding,) = checked(tmp_path, code + other).findings()
    assert finding.severity is Severity.WARNING


VECTOR_QUANTIZER = """
import torch


class Quantizer(torch.autograd.Function):
    \"\"\"Nearest codes, straight-through; the loss is |sg(x) - e|^2 + beta |x - sg(e)|^2.\"\"\"

    @staticmethod
    def forward(ctx, x, codes):
        at = (x[:, None] - codes).pow(2).sum(-1).argmin(1)
        ctx.save_for_backward(x - codes[at], at)
        ctx.count = len(codes)
        return codes[at], 1.25 * (x - codes[at]).pow(2).sum()

    @staticmethod
    def backward(ctx, g, of_loss):
        gap, at = ctx.saved_tensors
        return {x}, {codes}

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.1, 0.4], [1.2, 0.7], [0.3, -0.2]], dtype=torch.double)
        codes = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)
        yield x.requires_grad_(), codes.requires_grad_()
"""
TO_CODES = "gap.new_zeros(ctx.count, 2).index_add(0, at, -2 * of_loss * gap)"


@pytest.mark.parametrize(
    ("x", "codes", "rule"),
    [
        ("g + 0.5 * of_loss * gap", TO_CODES, "GT120"),
        ("g - 0.5 * of_loss * gap", TO_CODES, "GT101"),
        ("g + 0.5 * of_loss * gap", f"-{TO_CODES}", "GT101"),
    ],
)
def test_a_vector_quantizer_stops_gradients(tmp_path, x, codes, rule):
    found = checked(tmp_path, VECTOR_QUANTIZER.format(x=x, codes=codes)).findings()
    assert {each.rule for each in found} == {rule}


@pytest.mark.parametrize(("forward", "backward", "said", "rule", "severity"), SAID)
def test_a_docstring_may_declare_a_surrogate(tmp_path, forward, backward, said, rule, severity):
    code = source(forward, backward).replace(".Function):", f'.Function):\n    """{said}"""')
    (finding,) = checked(tmp_path, code).findings()
    assert (finding.rule, finding.severity) == (rule, severity)
    assert finding.message.endswith("as a docstring says") == (severity is Severity.NOTE)


JUMP = """
import torch


class Window(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u):
        ctx.save_for_backward(u)
        return (u.abs() < 0.5).to(u.dtype)

    @staticmethod
    def backward(ctx, g):
        (u,) = ctx.saved_tensors
        return g * (u.abs() < 0.5)


class Jump(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, edge):
        ctx.save_for_backward(x, edge)
        return x * (x > edge)

    @staticmethod
    def backward(ctx, g):
        x, edge = ctx.saved_tensors
        at_edge = edge * Window.apply(x - edge) * g
        return (x > edge) * g ADDED, -at_edge

    @staticmethod
    def sample_inputs():
        x = torch.tensor([-1.0, 0.4, 0.7, 1.9], dtype=torch.double, requires_grad=True)
        yield x, torch.full_like(x, 0.5).requires_grad_()
"""


@pytest.mark.parametrize("added", ["", "+ at_edge"])
def test_the_surrogate_of_an_edge_goes_to_what_lies_on_either_side(
    tmp_path: Path, added: str
) -> None:
    (tmp_path / "ops.py").write_text(JUMP.replace("ADDED", added))
    report = check(check_options(paths=(f"{tmp_path}/ops.py::Jump",)))
    assert {rule for rule, verdict in verdicts(report) if verdict is Verdict.FAIL} == {"GT120"}


def test_what_is_added_to_one_side_alone_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(JUMP.replace("ADDED", "+ 0.5 * at_edge"))
    report = check(check_options(paths=(f"{tmp_path}/ops.py::Jump",)))
    assert ("GT101", Verdict.FAIL) in verdicts(report)


CHOICE = """
import torch


class Chosen(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scores):
        ctx.save_for_backward(x, scores)
        return x[:, scores.argmax(0)]

    @staticmethod
    def backward(ctx, g):
        x, scores = ctx.saved_tensors
        return g @ SHARES, (2 * x - 1).T @ g

    @staticmethod
    def sample_inputs():
        x = torch.tensor([[0.3, -1.2, 0.8], [1.1, 0.4, -0.7]], dtype=torch.double)
        scores = torch.tensor([[0.1, 0.9], [1.3, -0.4], [-0.8, 0.2]], dtype=torch.double)
        yield x.requires_grad_(), scores.requires_grad_()
"""


@pytest.mark.parametrize(
    ("shares", "rule"),
    [("torch.softmax(scores, 0).T", "GT120"), ("torch.softmax(scores, 1).T", "GT101")],
)
def test_a_choice_may_have_the_gradient_of_the_softmax_of_its_scores(
    tmp_path: Path, shares: str, rule: str
) -> None:
    (tmp_path / "ops.py").write_text(CHOICE.replace("SHARES", shares))
    report = check(check_options(paths=(f"{tmp_path}/ops.py::Chosen",)))
    assert {code for code, verdict in verdicts(report) if verdict is Verdict.FAIL} == {rule}


def verdicts(report: Report) -> set[tuple[str, Verdict]]:
    cases = [case for _, function in report.functions() for case in function.cases]
    return {(each.rule, each.verdict) for case in cases for each in case.checks}

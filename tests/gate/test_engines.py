"""``--engine torch`` and ``--engine both``: the same gate over the PyTorch that is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from gradtool.gate.engines import require_engine
from gradtool.gate.options import CheckOptions, UsageError
from gradtool.gate.runner import check
from gradtool.results import Finding, Report, Severity, Verdict
from gradtool.verify.rules import RULES
from tests.zoo.members import ZOO, members

SAMPLES = Path(__file__).resolve().parents[2] / "samples"

MORE_OR_LESS_UNDER_PYTORCH: dict[str, str] = {}
"""Function of the zoo -> why PyTorch lets other rules be broken. ``docs/engines.md`` lists them."""


def torch(test):
    """Marks a test that runs the installed PyTorch."""
    missing = importlib.util.find_spec("torch") is None
    return pytest.mark.torch(pytest.mark.skipif(missing, reason="PyTorch is not installed")(test))


def checked(*paths: Path, engine: str, **options: object) -> Report:
    shown = tuple(str(path) for path in paths)
    return check(CheckOptions(paths=shown, engine=engine, strict=True, isolation=True, **options))


def alarms(report: Report, rule: str = "") -> list[Finding]:
    return [
        finding
        for finding in report.findings()
        if finding.severity is not Severity.NOTE and finding.rule.startswith(rule)
    ]


def broken(report: Report) -> dict[str, set[str]]:
    """Function -> the rules it breaks."""
    found: dict[str, set[str]] = {}
    for module, function in report.functions():
        name = f"{Path(module.path).stem}::{function.name}"
        checks = [*function.checks, *(check for case in function.cases for check in case.checks)]
        found[name] = {
            finding.rule
            for check in checks
            for finding in check.findings
            if finding.severity is not Severity.NOTE
        }
    return found


@torch
def test_the_samples_pass_under_pytorch_and_both_agree():
    report = checked(SAMPLES, engine="both", exclude=("wrong",))
    assert alarms(report) == []
    asked = [each.verdict for each in report.checks() if each.rule == "GT702"]
    assert set(asked) == {Verdict.PASS}
    assert "PyTorch" in report.environment.engine


@torch
def test_each_wrong_function_of_the_zoo_breaks_the_same_rules_under_pytorch():
    found = broken(checked(ZOO / "wrong", engine="torch"))
    differing = {
        member.id: found.get(member.id)
        for member in members("wrong")
        if found.get(member.id) != member.expect and member.id not in MORE_OR_LESS_UNDER_PYTORCH
    }
    assert differing == {}


@torch
def test_each_right_function_of_the_zoo_passes_under_both_engines():
    report = checked(ZOO / "right", engine="both")
    assert alarms(report) == []
    assert report.verdict is Verdict.PASS
    asked = [each.verdict for each in report.checks() if each.rule == "GT702"]
    assert asked.count(Verdict.PASS) >= len(members("right"))


@torch
@pytest.mark.parametrize(("example", "expected"), [("wrong", {"GT702"}), ("right", set())])
def test_the_examples_of_the_page_disagree_and_agree(tmp_path, example, expected):
    module = tmp_path / "scale.py"
    module.write_text(getattr(RULES["GT702"], example))
    assert {finding.rule for finding in alarms(checked(module, engine="both"))} == expected


@torch
def test_a_rule_that_is_broken_under_one_engine_only_is_a_disagreement(tmp_path):
    module = tmp_path / "halved.py"
    module.write_text(
        "from gradtool import Function\n"
        "class Halved(Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.real = type(x).__module__ == 'torch'\n"
        "        return x * 2\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        if ctx.real:\n"
        "            g.mul_(1)\n"
        "            g.add_(1).sub_(1)\n"
        "            g.data.add_(1e-9)\n"
        "        return g * 2\n"
    )
    (finding,) = alarms(checked(module, engine="both"))
    assert finding.rule == "GT702"
    assert finding.message.startswith("GT503 is broken under PyTorch only: ")


@torch
def test_a_module_may_import_torch_or_gradtool(tmp_path):
    body = (
        "class Square(Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n"
        "        return x * x\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        (x,) = ctx.saved_tensors\n"
        "        return 2 * x * g\n"
    )
    (tmp_path / "one.py").write_text(f"from torch.autograd import Function\n{body}")
    (tmp_path / "two.py").write_text(f"from gradtool import Function\n{body}")
    report = checked(tmp_path, engine="torch")
    assert [function.verdict for _, function in report.functions()] == [Verdict.PASS] * 2


def test_pytorch_that_is_missing_is_told_in_one_line(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        UsageError, match="--engine torch needs PyTorch beside gradtool: pip install"
    ):
        require_engine("torch")


def test_pytorch_that_is_too_old_is_told_in_one_line(monkeypatch):
    monkeypatch.setattr("gradtool.gate.engines._torch_version", lambda: "1.13.1+cpu")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    with pytest.raises(UsageError, match=r"--engine both needs PyTorch 2\.4 or later; 1\.13\.1"):
        require_engine("both")


def test_an_unknown_engine_is_told():
    with pytest.raises(UsageError, match="bundled, torch, both, got 'jax'"):
        require_engine("jax")

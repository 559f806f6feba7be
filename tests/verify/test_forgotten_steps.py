"""A finding says which step of forward or backward was got wrong, and never a wrong one."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from gradtool.run.runner import check
from tests.options import check_options

MODULES = [
    Path(__file__).with_name(f"wrong_{name}.py")
    for name in ("steps", "formulas", "double_backward", "repaired", "rearranged")
]


def _expected(module: Path) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    source = module.read_text(encoding="utf-8")
    for part in re.split(r"^(?=class )", source, flags=re.MULTILINE):
        name = re.match(r"class (\w+)", part)
        says = re.search(r'says = \(?\s*(?:"(.*)"|None)', part)
        if name and says:
            before = source.split(part)[0].count("\n")
            line = before + part.split("# <-")[0].count("\n") + 1
            text = says[1] and says[1].replace("LINE", str(line)).replace("NEXT", str(line + 1))
            found[name[1]] = text
    return found


NAMED_BY_THE_BUNDLED_ENGINE = {"KeyOfPredictionForgotten", "KeyOfOneUseForgotten"}
EXPECTED = {module: _expected(module) for module in MODULES}


@cache
def _hints(module: Path, engine: str) -> dict[str, str]:
    select = ("GT101", "GT118", "GT201", "GT202", "GT301")
    report = check(check_options(paths=(str(module),), select=select, engine=engine))
    hints: dict[str, str] = {}
    for finding in report.findings():
        name = finding.node_id.split("::")[1].split("[")[0]
        hints[name] = f"{hints.get(name, '')}; {finding.hint or ''}"
    return hints


@pytest.mark.parametrize("engine", ["bundled", pytest.param("torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize(
    ("module", "name"),
    [pytest.param(module, name, id=name) for module in MODULES for name in EXPECTED[module]],
)
def test_the_step_is_named(module: Path, name: str, engine: str) -> None:
    if engine == "torch":
        pytest.importorskip("torch")
        if name in NAMED_BY_THE_BUNDLED_ENGINE:
            pytest.skip("PyTorch keeps the line of a step, and not its expression")
    hint = _hints(module, engine)[name]
    expected = EXPECTED[module][name]
    if expected is None:
        assert "(line" not in hint
    else:
        assert expected in hint


def test_the_line_of_forward_is_part_of_the_finding() -> None:
    path = str(MODULES[0])
    report = check(check_options(paths=(f"{path}::LayerNormForgetsVariance",), select=("GT101",)))
    (finding,) = report.findings()
    assert finding.step is not None
    assert "var = (centred * centred)" in finding.step.lines[0]
    assert f"(line {finding.step.first})" in (finding.hint or "")
    assert (finding.repair or "").startswith("gradtool derive ")
    assert (finding.repair or "").endswith("wrong_steps.py::LayerNormForgetsVariance")


APPLIED = """
import torch


class Applied(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, function):
        ctx.save_for_backward(x)
        return function(x) * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * grad_output * x, None

    @staticmethod
    def sample_inputs():
        yield torch.rand(3, dtype=torch.double, requires_grad=True), torch.exp
"""


def test_no_backward_is_offered_that_would_fit_one_function_alone(tmp_path: Path) -> None:
    path = tmp_path / "applied.py"
    path.write_text(APPLIED, encoding="utf-8")
    (finding,) = check(check_options(paths=(str(path),), select=("GT101",))).findings()
    assert finding.repair is None

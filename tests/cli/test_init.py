"""``gradtool init``: what it writes is right, gives the same results, and overwrites nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import yaml

from gradtool.config.files import load_config
from gradtool.results.report import FunctionResult, Report
from tests.user_modules import NOT_LOADED

Run = Callable[..., tuple[int, str, str]]

OPS = """
from gradtool import Function
import gradtool.engine as torch


class Product(Function):
    @staticmethod
    def forward(ctx, x, y, factor=2):
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        return x * y * factor

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * ctx.factor, g * x, None


class Sampled(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return g * 3

    @staticmethod
    def sample_inputs():
        yield (torch.ones(2, dtype=torch.double),)


class Opaque(Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("never")

    @staticmethod
    def backward(ctx, g):
        return g
"""


def results(name: str) -> dict[str, FunctionResult]:
    report = msgspec.json.decode(Path(name).read_bytes(), type=Report)
    return {f"{module.path}::{function.name}": function for module, function in report.functions()}


def test_a_run_gives_the_same_with_what_it_writes(run: Run) -> None:
    Path("ops").mkdir()
    Path("ops/a.py").write_text(OPS)
    Path("ops/broken.py").write_text(NOT_LOADED)
    before = run("check", ".", "--no-cache", "--report", "json=before.json")[0]
    code, out, err = run("init")
    assert (code, err) == (0, "")
    assert out == (
        "gradtool.yaml: 1 Function with 1 case written out, 3 listed in a comment\n"
        "next: gradtool check .\n"
    )
    config = load_config("gradtool.yaml")
    assert list(config.functions) == ["ops/a.py::Product"]
    text = Path("gradtool.yaml").read_text()
    assert "#   ops/a.py::Sampled: its cases come from its sample_inputs\n" in text
    assert "#   ops/a.py::Opaque: found no arguments that forward accepts" in text
    assert "#   ops/broken.py: import raised ModuleNotFoundError" in text
    assert run("check", ".", "--no-cache", "--report", "json=after.json")[0] == before
    first, second = results("before.json"), results("after.json")
    assert first.keys() == second.keys()
    for name, function in first.items():
        for case, again in zip(function.cases, second[name].cases, strict=True):
            assert (case.name, case.arguments, case.cost) == (
                again.name,
                again.arguments,
                again.cost,
            )
            assert case.checks == again.checks
    assert {case.source for case in second["ops/a.py::Product"].cases} == {"config"}


def test_nothing_is_overwritten_without_force(run: Run) -> None:
    Path("ops.py").write_text(OPS)
    Path("gradtool.yaml").write_text("version: 1\n")
    code, out, err = run("init", "ops.py")
    assert (code, out) == (2, "")
    assert err == "error: gradtool.yaml already exists: use --force to overwrite it\n"
    assert Path("gradtool.yaml").read_text() == "version: 1\n"
    assert run("init", "ops.py", "--force")[0] == 0
    assert load_config("gradtool.yaml").functions


def test_a_workflow_is_written_beside_an_existing_configuration(run: Run) -> None:
    Path(".git").mkdir()
    Path("ops.py").write_text(OPS)
    Path("gradtool.yaml").write_text("version: 1\n")
    code, out, _ = run("init", "ops.py", "--workflow")
    assert code == 0
    assert "gradtool.yaml already exists and was not changed; use --force to overwrite it\n" in out
    assert Path("gradtool.yaml").read_text() == "version: 1\n"
    written = yaml.safe_load(Path(".github/workflows/gradtool.yml").read_text())
    steps = written["jobs"]["gradients"]["steps"]
    assert steps[-1]["run"] == "gradtool check ops.py --require-functions 2"
    assert "defaults" not in written["jobs"]["gradients"]
    assert "if findings remain: gradtool check ops.py --write-baseline, and add --baseline" in out


def test_the_workflow_of_a_repository_runs_where_init_ran(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(".git").mkdir()
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    Path("ops.py").write_text(OPS)
    assert run("init", "--workflow")[0] == 0
    written = yaml.safe_load(Path("../.github/workflows/gradtool.yml").read_text())
    where = written["jobs"]["gradients"]["defaults"]["run"]
    assert where == {"working-directory": "sub"}


def test_where_there_is_no_function_nothing_is_written(run: Run) -> None:
    Path("empty.py").write_text("X = 1\n")
    code, out, err = run("init")
    assert (code, out) == (5, "")
    assert err == "no Functions found in .; nothing was written\n"
    assert not Path("gradtool.yaml").exists()


def test_modules_elsewhere_are_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("ops.py").write_text(OPS)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    code, _, err = run("init", "../ops.py")
    assert code == 2
    assert "is outside the current folder: run gradtool init in a folder above it" in err


SPELLED_OUT = """
from gradtool import Function


class Scale(Function):
    @staticmethod
    def forward(ctx, x, factor=DEFAULT):
        ctx.factor = factor
        return x * ctx.factor[0]

    @staticmethod
    def backward(ctx, g):
        assert len(ctx.needs_input_grad) == 2
        return g * ctx.factor[0], None
"""


@pytest.mark.parametrize(("default", "written"), [("[3]", True), ("(3,)", False)])
def test_arguments_that_a_file_cannot_hold_are_left_to_inference(
    run: Run, default: str, written: bool
) -> None:
    Path("ops.py").write_text(SPELLED_OUT.replace("DEFAULT", default))
    assert run("init")[0] == 0
    text = Path("gradtool.yaml").read_text()
    told = (
        "#   ops.py::Scale: its arguments cannot be written as YAML, and are inferred again "
        "in each run\n"
    )
    assert (told in text) is not written
    assert bool(load_config("gradtool.yaml").functions) is written
    code, out, _ = run("check", "ops.py", "--no-cache")
    assert code == 0, out

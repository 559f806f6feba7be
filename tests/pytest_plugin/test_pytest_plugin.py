"""``pytest --gradtool``: a test for each case, reported in the format of gradtool."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]

OPS = '''
    """Four Functions: right, wrong, one that ends its process and one nothing can call."""

    import os

    import torch
    from gradtool import Case
    from torch.autograd import Function


    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            with open("calls.txt", "a") as file:
                file.write("x")
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 3 * grad_output * x**2

        @staticmethod
        def sample_inputs():
            yield Case((torch.ones(2).double(),), name="small")
            yield Case((torch.ones(3).double(),), name="large")


    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * x


    class Leaver(Function):
        @staticmethod
        def forward(ctx, x):
            if x.shape == (7,):
                os._exit(0)
            return x * 1

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

        @staticmethod
        def sample_inputs():
            yield Case((torch.ones(7).double(),), name="fatal")


    class Picky(Function):
        @staticmethod
        def forward(ctx, x):
            raise TypeError("no argument is good enough")

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output
'''
CONFIG = """
    version: 1
    check: {exclude: [generated]}
    functions:
      Square: {ignore: {GT505: "its table is a constant"}}
"""
FILES = {
    "my_ops.py": OPS,
    "gradtool.yaml": CONFIG,
    "test_own.py": "def test_own() -> None: ...",
    "script.py": "raise SystemExit('a script without a Function is not imported')",
    "generated/broken.py": "import nothing_of_this_name",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(dedent(text), encoding="utf-8")
    return folder


def run_pytest(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with the plugin, whether or not gradtool is installed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1"}
    environment.setdefault("GRADTOOL_EXPLORE", "off")
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        environment.pop(name, None)
    flags = [] if is_installed() else ["-p", "gradtool.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", *flags, "-p", "no:cacheprovider", *args]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def is_installed() -> bool:
    from importlib.metadata import entry_points

    return "gradtool" in entry_points(group="pytest11").names


def outcomes(run: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The outcome of each test by its node id, from the lines of ``-v``, xdist's included."""
    node, word = r"(\S+\.py::\S+)", "(PASSED|FAILED|SKIPPED|ERROR)"
    direct = re.findall(rf"^{node} {word}", run.stdout, re.M)
    remote = re.findall(rf"^\[gw\d\] \[ *\d+%\] {word} {node}", run.stdout, re.M)
    return dict(direct) | {name: outcome for outcome, name in remote}


@pytest.fixture(scope="module")
def everything(project: Path) -> subprocess.CompletedProcess[str]:
    return run_pytest(project, "--gradtool", "-v", "-rfEs", ".")


def test_every_function_and_every_case_is_a_test_of_gradtools_node_id(everything) -> None:
    assert outcomes(everything) == {
        "my_ops.py::Cube": "PASSED",
        "my_ops.py::Cube[small]": "PASSED",
        "my_ops.py::Cube[large]": "PASSED",
        "my_ops.py::Square": "SKIPPED",
        "my_ops.py::Square[inferred]": "FAILED",
        "my_ops.py::Leaver": "SKIPPED",
        "my_ops.py::Leaver[fatal]": "FAILED",
        "my_ops.py::Picky": "FAILED",
        "test_own.py::test_own": "PASSED",
    }


def test_tests_of_pytests_own_run_beside_them(everything) -> None:
    assert outcomes(everything)["test_own.py::test_own"] == "PASSED"


def test_a_failure_is_reported_as_by_gradtool_without_a_traceback(everything) -> None:
    output = everything.stdout
    assert "my_ops.py:37: error GT101 wrong-gradient" in output
    assert "hint     backward is right with `2.0 * (grad_output * x)`" in output
    assert "'my_ops.py::Square[inferred]' --select GT101 --seed 0" in output
    assert re.search(r"^FAILED my_ops.py::Square\[inferred\] - GT101 gradient of `x`", output, re.M)
    assert "Traceback" not in output
    assert "pytest_plugin" not in output.partition("= FAILURES =")[2]


def test_a_passing_case_shows_what_was_left_out_where_pytest_shows_output(project: Path) -> None:
    output = run_pytest(project, "--gradtool", "-rP", "my_ops.py::Cube[small]").stdout
    assert re.search("^-+ not checked -+$", output, re.M)
    assert "GT301: no jvp" in output


def test_a_function_that_ends_its_process_fails_that_case(everything) -> None:
    assert "the Function ended the process" in everything.stdout
    assert re.search(r"^FAILED my_ops.py::Leaver\[fatal\] - GT008", everything.stdout, re.M)


def test_a_function_without_arguments_fails_as_a_whole(everything) -> None:
    assert "no argument is good enough" in everything.stdout
    assert re.search(r"^FAILED my_ops.py::Picky - GT002", everything.stdout, re.M)


def test_what_the_configuration_leaves_out_is_not_collected(everything) -> None:
    assert not [node for node in outcomes(everything) if "generated" in node]
    assert everything.returncode == pytest.ExitCode.TESTS_FAILED


def test_a_function_is_run_once_and_only_at_the_cases_that_were_selected(project: Path) -> None:
    calls = project / "calls.txt"
    counts = []
    for keyword in ("small and Cube", "small", "Cube"):
        calls.unlink(missing_ok=True)
        run = run_pytest(project, "--gradtool", "-q", "my_ops.py", "-k", keyword)
        assert run.returncode == pytest.ExitCode.OK, run.stdout
        counts.append(len(calls.read_text(encoding="utf-8")))
    assert counts[0] == counts[1] < counts[2] < 4 * counts[1]


def test_a_node_id_of_gradtools_selects_its_tests(project: Path) -> None:
    case = "my_ops.py::Cube[small]"
    assert outcomes(run_pytest(project, "--gradtool", "-v", case)) == {case: "PASSED"}
    function = outcomes(run_pytest(project, "--gradtool", "-v", "my_ops.py::Cube"))
    assert set(function) == {"my_ops.py::Cube", case, "my_ops.py::Cube[large]"}


def test_a_mistake_beside_the_cases_fails_a_test_of_its_own(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GRADTOOL_EXPLORE", "quick")
    (tmp_path / "ops.py").write_text(SCALED_BY_ITS_DEFAULT, encoding="utf-8")
    found = outcomes(run_pytest(tmp_path, "--gradtool", "-v", "ops.py"))
    assert found == {
        "ops.py::Scaled[inferred]": "PASSED",
        "ops.py::Scaled": "FAILED",
    }


SCALED_BY_ITS_DEFAULT = """\
from gradtool import Function


class Scaled(Function):
    @staticmethod
    def forward(ctx, x, scale=1.0):
        return scale * x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 1.0, None
"""


def test_xdist_gives_the_same_answers_and_runs_each_function_once(project, everything) -> None:
    calls = project / "calls.txt"
    calls.unlink()
    alone = run_pytest(project, "--gradtool", "-q", "my_ops.py", "-k", "Cube")
    assert alone.returncode == pytest.ExitCode.OK
    once = len(calls.read_text(encoding="utf-8"))
    calls.unlink()
    run = run_pytest(project, "--gradtool", "-v", "-n", "2", ".")
    assert outcomes(run) == outcomes(everything)
    assert "my_ops.py:37: error GT101 wrong-gradient" in run.stdout
    # Each process looks for the cases; one of them checks.
    assert len(calls.read_text(encoding="utf-8")) == once


def test_a_module_that_does_not_import_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "my_ops.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    run = run_pytest(tmp_path, "--gradtool", "-v", "my_ops.py")
    assert outcomes(run) == {"my_ops.py::import": "FAILED"}
    assert "error GT001" in run.stdout


def test_settings_of_pytest_choose_the_configuration_and_strictness(tmp_path: Path) -> None:
    body = """
        import torch

        class Doubled(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                t = x.sin()
                ctx.save_for_backward(t)
                return t * x.cos().square()

            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(ctx, grad_output):
                (t,) = ctx.saved_tensors
                return grad_output
    """
    (tmp_path / "my_ops.py").write_text(dedent(body), encoding="utf-8")
    (tmp_path / "other.yaml").write_text(
        "version: 1\nfunctions: {Doubled: {ignore: {GT1: 'a surrogate', GT5: 'a surrogate'}}}\n",
        encoding="utf-8",
    )
    ini = "[pytest]\ngradtool_config = other.yaml\n"
    (tmp_path / "pytest.ini").write_text(ini, encoding="utf-8")
    run = run_pytest(tmp_path, "--gradtool", "-q", "-rP", "my_ops.py")
    assert run.returncode == pytest.ExitCode.OK, run.stdout
    assert "ignored by the configuration: a surrogate" in run.stdout


def test_a_wrong_configuration_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "my_ops.py").write_text(dedent(OPS), encoding="utf-8")
    (tmp_path / "gradtool.yaml").write_text("version: 1\nchek: {}\n", encoding="utf-8")
    run = run_pytest(tmp_path, "--gradtool", "-q", "my_ops.py")
    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert "unknown key 'chek' (did you mean 'check'?)" in run.stdout
    assert "Traceback" not in run.stdout
    (tmp_path / "pytest.ini").write_text("[pytest]\ngradtool_config = no.yaml\n", encoding="utf-8")
    run = run_pytest(tmp_path, "--gradtool", "-q", "my_ops.py")
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no.yaml" in run.stderr
    (tmp_path / "gradtool.yaml").unlink()
    (tmp_path / "pytest.ini").write_text("[pytest]\ngradtool_engine = toch\n", encoding="utf-8")
    run = run_pytest(tmp_path, "--gradtool", "-q", "my_ops.py")
    assert re.search(r"--engine must be .*bundled.*, got 'toch'", run.stdout)


def test_without_the_flag_nothing_of_gradtool_is_loaded(tmp_path: Path) -> None:
    test = """
        import json, sys

        def test_imports() -> None:
            mine = [name for name in sys.modules if name.partition(".")[0] == "gradtool"]
            heavy = [name for name in ("numpy", "msgspec", "rich", "yaml") if name in sys.modules]
            open("loaded.json", "w").write(json.dumps([sorted(mine), heavy]))
    """
    (tmp_path / "test_imports.py").write_text(dedent(test), encoding="utf-8")
    run = run_pytest(tmp_path, "-q", "-p", "no:xdist", "-p", "no:hypothesispytest")
    assert run.returncode == pytest.ExitCode.OK, run.stdout
    mine, heavy = json.loads((tmp_path / "loaded.json").read_text(encoding="utf-8"))
    assert mine == ["gradtool", "gradtool.package", "gradtool.pytest_plugin"]
    assert heavy == []


WRONG = """
    from torch.autograd import Function


    class {0}(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * x
"""


def test_findings_of_a_baseline_are_expected_failures(tmp_path: Path) -> None:
    module = tmp_path / "my_ops.py"
    module.write_text(dedent(WRONG.format("Old")), encoding="utf-8")
    command = [sys.executable, "-m", "gradtool", "check", "my_ops.py", "--write-baseline"]
    subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        check=False,
    )  # fmt: skip
    ini = "[pytest]\ngradtool_baseline = gradtool-baseline.json\n"
    (tmp_path / "pytest.ini").write_text(ini, encoding="utf-8")
    run = run_pytest(tmp_path, "--gradtool", "-q", "-rx", "my_ops.py")
    assert run.returncode == pytest.ExitCode.OK, run.stdout
    assert "XFAIL my_ops.py::Old[inferred] - GT101 wrong-gradient" in run.stdout
    both = dedent(WRONG.format("Old")) + dedent(WRONG.format("New"))
    module.write_text(both, encoding="utf-8")
    run = run_pytest(tmp_path, "--gradtool", "-q", "my_ops.py")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed" in run.stdout
    assert "1 xfailed" in run.stdout
    run = run_pytest(tmp_path, "--gradtool", "-q", "my_ops.py", "--gradtool-baseline", "no.json")
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no.json does not exist" in run.stderr

"""``gradtool profile``: what is timed, what is said of what cannot be, and how it ends."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gradtool.cli.app import main
from gradtool.measure.summary import summarize
from gradtool.report.profile import csv as comma_separated
from gradtool.report.profile import document, html, markdown
from gradtool.report.terminal.profile import plain
from gradtool.results.profile import (
    CaseProfile,
    FunctionProfile,
    Operation,
    Phase,
    ProfileReport,
)
from gradtool.results.report import Environment

GOOD = """
import numpy as np
from gradtool import Function, once_differentiable

class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x

class Once(Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * 1

class Written(Function):
    @staticmethod
    def forward(ctx, x):
        array = x.numpy()
        array += 1
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g
"""

BAD = """
import os
from gradtool import Case, Function

class Raises(Function):
    @staticmethod
    def sample_inputs():
        import gradtool
        yield Case((gradtool.randn(2, requires_grad=True),), name="only")

    @staticmethod
    def forward(ctx, x):
        raise ValueError("no such thing")

class Dies(Raises):
    @staticmethod
    def forward(ctx, x):
        os.abort()
"""


def profiled(tmp_path: Path, source: str, *options: str) -> tuple[int, dict[str, Any]]:
    (tmp_path / "ops.py").write_text(source)
    out = tmp_path / "out.json"
    target, *others = options or ["ops.py"]
    command = ["profile", target, "--budget", "0.05", "--report", f"json={out}", *others]
    code = main(command)
    return code, json.loads(out.read_text()) if out.exists() else {}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_phases_have_times_memory_and_operations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = profiled(tmp_path, GOOD)
    assert code == 0
    msgspec.convert(report, ProfileReport)
    by_name = {each["node"].partition("::")[2]: each for each in report["functions"]}
    phases = {each["name"]: each for each in by_name["Square"]["cases"][0]["phases"]}
    assert list(phases) == ["forward", "backward", "double backward"]
    for phase in phases.values():
        assert 0 < phase["time"]["p25"] <= phase["time"]["median"] <= phase["time"]["p75"]
        assert len(phase["samples"]) == phase["time"]["n"]
        assert 0 < phase["peak"] < 1_000_000
    assert {each["name"] for each in phases["forward"]["operations"]} == {"Square", "aten::mul"}
    printed = capsys.readouterr().out
    assert "ops.py::Square" in printed
    assert "3 Functions, 3 cases profiled in" in printed


def test_what_has_no_second_derivative_says_so(tmp_path: Path) -> None:
    code, report = profiled(tmp_path, GOOD, "ops.py::Once", "--no-isolation")
    (case,) = report["functions"][0]["cases"]
    assert code == 0
    assert case["phases"][2] == {
        "name": "double backward",
        "unavailable": "backward is once_differentiable, or is not recorded by autograd",
    }


def test_a_function_that_writes_to_its_argument_gets_a_copy_for_each_run(tmp_path: Path) -> None:
    _, report = profiled(tmp_path, GOOD, "ops.py::Written", "--no-isolation")
    forward = report["functions"][0]["cases"][0]["phases"][0]
    assert forward["batch"] == 1
    assert forward["time"]["n"] >= 15


def test_what_raises_or_dies_is_one_line_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = profiled(tmp_path, BAD + GOOD.partition("class Once")[0].partition("\n\n")[2])
    assert code == 1
    raises, dies, square = report["functions"]
    assert raises["cases"][0]["problem"].startswith("forward raised ValueError: no such thing (ops")
    assert dies["rule"] == "GT005"
    assert "crashed its process" in dies["problem"]
    assert square["cases"][0]["phases"][0]["time"]["n"] > 0
    captured = capsys.readouterr()
    assert "Traceback" not in captured.out
    assert "2 Functions could not be run" in captured.out


FLAKY = """
from gradtool import Function, randn

class Backward(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise KeyError("oops")

class Tires(Function):
    calls = 0

    @staticmethod
    def sample_inputs():
        yield (randn(2, requires_grad=True),)

    @staticmethod
    def forward(ctx, x):
        Tires.calls += 1
        if Tires.calls > 100:
            raise ValueError("tired")
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2
"""


def test_a_backward_that_raises_and_a_forward_that_tires_fail_the_run(tmp_path: Path) -> None:
    code, report = profiled(tmp_path, FLAKY, "ops.py", "--no-isolation")
    assert code == 1
    backward, tires = (each["cases"][0] for each in report["functions"])
    assert backward["phases"][0]["time"]["n"] > 0
    assert backward["phases"][1]["raised"] is True
    assert backward["phases"][1]["unavailable"].startswith("KeyError: 'oops' (ops.py:11)")
    told = json.dumps(tires)
    assert "ValueError: tired (ops.py:24)" in told


@pytest.mark.parametrize(
    ("source", "options", "code"),
    [
        ("import nowhere_to_be_found", ("ops.py",), 4),
        ("x = 1", ("ops.py",), 5),
        (GOOD, ("ops.py", "-k", "nothing"), 5),
    ],
)
def test_exit_codes(tmp_path: Path, source: str, options: tuple[str, ...], code: int) -> None:
    assert profiled(tmp_path, source, *options)[0] == code


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("ops.py", "--case", "a"),
            "--case needs a Function, such as my_ops.py::Cube, got 'ops.py'",
        ),
        (("ops.py::Square", "--case", "nope"), "has no case 'nope'"),
        (("ops.py", "--report", "xml=x"), "unknown format for --report: 'xml'"),
        (("nowhere.py",), "nowhere.py"),
        (("ops.py", "--budget", "nan"), "--budget must be a number of seconds above 0, got nan"),
        (("ops.py", "--budget", "inf"), "--budget must be a number of seconds above 0, got inf"),
    ],
)
def test_usage(
    tmp_path: Path, options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert profiled(tmp_path, GOOD, *options)[0] == 2
    assert message in capsys.readouterr().err


def test_limits_longer_than_timers_go_are_none(tmp_path: Path) -> None:
    limits = ("--timeout", "1e308", "--budget", "1e308")
    assert profiled(tmp_path, GOOD, "ops.py::Square", *limits)[0] == 0


def test_a_case_can_be_chosen(tmp_path: Path) -> None:
    code, report = profiled(tmp_path, GOOD, "ops.py::Square", "--case", "inferred")
    assert (code, len(report["functions"])) == (0, 1)


def made() -> ProfileReport:
    times = tuple(1e-5 + n * 1e-7 for n in range(15))
    operations = tuple(
        Operation(name=name, calls=2, own=own, total=own)
        for name, own in [("aten::mm", 6e-6), ("aten::add", 2e-6), ("A", 1e-6), ("B", 1e-6)]
    )
    phases = (
        Phase(
            name="forward", time=summarize(times), samples=times, batch=9, peak=4096,
            operations=operations,
        ),
        Phase(name="double backward", unavailable="it is cut"),
    )  # fmt: skip
    case = CaseProfile(name="small", arguments=("x: float64[2]",), source="config", phases=phases)
    environment = Environment(
        gradtool="1", python="3.12", numpy="2.0", platform="Linux x86_64", engine="bundled",
        device="cpu",
    )  # fmt: skip
    functions = (
        FunctionProfile(node="ops.py::Linear", line=3, cases=(case,)),
        FunctionProfile(node="bad.py", problem="cannot be imported", rule="GT001"),
    )
    return ProfileReport(environment=environment, budget=2, functions=functions, seconds=1.25)


def test_the_report_at_80_columns() -> None:
    assert plain(made(), width=80) == (
        "gradtool 1, Python 3.12, NumPy 2.0, Linux x86_64, bundled engine on cpu\n"
        "\n"
        "ops.py::Linear\n"
        "  phase                median            p25 - p75   n    peak  trust\n"
        "  small\n"
        "    forward          10.70 us  10.35 us - 11.05 us  15  4.1 kB\n"
        "    double backward         -\n"
        "  - [small] double backward: it is cut\n"
        "  forward          aten::mm 60% (2 calls), aten::add 20% (2 calls), A 10% (2\n"
        "                   calls), 1 more\n"
        "\n"
        "bad.py\n"
        "  - GT001 cannot be imported\n"
        "\n"
        "2 Functions, 1 case profiled in 1.2 s; 1 Function could not be run\n"
    )


def test_verbose_lists_every_operation() -> None:
    lines = plain(made(), verbosity=1).splitlines()
    assert "  small, forward" in lines
    assert sum("aten::" in line or line.strip().startswith(("A ", "B ")) for line in lines) == 4


def test_markdown_has_the_same_rows() -> None:
    text = markdown.render(made())
    assert "| small | forward | 10.70 us | 10.35 us - 11.05 us | 15 | 4.1 kB |  |" in text
    assert "| small | forward | aten::mm | 2 | 6.000 us | 60% | 6.000 us |" in text
    assert "- small" not in text


def test_html_and_csv_have_the_same_rows() -> None:
    page = html.render(made())
    assert "<h2>ops.py::Linear</h2>" in page
    assert '<td class="right">10.70 us</td>' in page
    assert "<details><summary>Operations</summary>" in page
    assert "<li>GT001 cannot be imported</li>" in page
    rows = list(csv.DictReader(comma_separated.render(made()).splitlines()))
    assert [(row["phase"], row["n"], row["unavailable"]) for row in rows] == [
        ("forward", "15", ""), ("double backward", "", "it is cut"),
        ("", "", "cannot be imported"),
    ]  # fmt: skip
    assert float(rows[0]["median"]) == pytest.approx(10.7e-6)


def test_the_document_decodes_to_the_report_and_its_schema_is_published() -> None:
    assert msgspec.json.decode(document.render(made()), type=ProfileReport) == made()
    assert document.published_schema() == document.generated_schema()


def test_an_interrupt_says_what_was_not_profiled() -> None:
    report = msgspec.structs.replace(made(), interrupted=True)
    assert "interrupted: the rest was not profiled" in plain(report)

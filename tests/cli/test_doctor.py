"""``gradtool doctor``: found and missing parts, advice, and probes that raise."""

from __future__ import annotations

import importlib
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

import gradtool
from gradtool.cli.app import main
from gradtool.device import driver
from gradtool.doctor import cuda, machine, packages
from gradtool.doctor.results import DoctorReport, ProbeResult
from gradtool.doctor.runner import run_probes
from gradtool.report.terminal.console import make_console
from gradtool.report.terminal.doctor import render


def only(answers: Iterator[ProbeResult]) -> ProbeResult:
    (answer,) = answers
    return answer


def test_what_is_required_works_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1].endswith("everything it needs is in place")
    for name in ("Python", "NumPy", "BLAS", "CUDA driver", "CuPy", "page locking", "terminal"):
        assert f"{name} " in printed


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert document["healthy"] is True
    found = msgspec.convert(document, DoctorReport)
    assert [each.state for each in found.answers if each.required] == ["works"] * 6


def test_a_required_package_that_fails_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = importlib.import_module

    def broken(name: str, *rest: Any) -> ModuleType:
        if name == "numpy":
            raise ImportError("libopenblas.so.0: cannot open shared object file\nand so on")
        return real(name, *rest)

    monkeypatch.setattr(packages.importlib, "import_module", broken)
    assert main(["doctor"]) == 1
    printed = capsys.readouterr().out
    assert "!!  NumPy" in printed
    assert "ImportError: libopenblas.so.0: cannot open shared object file\n" in printed
    assert "-> pip install --force-reinstall" in printed
    assert "cannot run: fix NumPy" in printed


def test_a_missing_package_is_reported_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "_REQUIRED", {"nothing-of-the-kind": "nothing_of_the_kind"})
    answer = only(packages.required())
    assert (answer.state, answer.advice) == ("missing", "pip install nothing-of-the-kind")
    assert answer.stops


def test_extras_are_found_without_importing_them() -> None:
    code = (
        "import sys; from gradtool.doctor.packages import extras; "
        "print({a.name: a.state for a in extras()}); "
        "print({'torch', 'scipy', 'matplotlib', 'numpy'} & set(sys.modules))"
    )
    home = Path(gradtool.__file__).parents[1]
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=home)
    assert run.stdout.splitlines()[1] == "set()"


def test_a_probe_that_raises_is_an_answer_and_the_others_go_on() -> None:
    def fails() -> Iterator[ProbeResult]:
        yield ProbeResult(name="first", state="works", found="yes")
        raise OSError("no such thing\nat all")

    found = run_probes([("the probe", fails), ("disk", list)])
    assert [(each.name, each.state, each.found) for each in found.answers] == [
        ("first", "works", "yes"), ("the probe", "broken", "OSError: no such thing"),
    ]  # fmt: skip
    assert found.healthy


def test_without_driver_nothing_needs_to_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "LIBRARY", "libnothing-of-the-kind.so")
    answer = only(cuda.driver())
    assert (answer.state, answer.required) == ("missing", False)
    assert "if this machine has an NVIDIA GPU" in answer.advice


@pytest.mark.parametrize(
    ("installed", "offered", "state", "words"),
    [
        ([], (13, 0), "missing", "pip install 'gradtool[cuda13]'"),
        ([], (12, 4), "missing", "pip install 'gradtool[cuda12]'"),
        ([], None, "missing", "on a machine with an NVIDIA GPU"),
        (["cupy-cuda13x 14.2"], (12, 4), "broken", "pip install 'gradtool[cuda12]', or update"),
        (["cupy-cuda12x 14.2", "cupy-cuda13x 14.2"], (13, 0), "broken", "pip uninstall cupy-cuda1"),
    ],
)
def test_cupy_must_be_one_and_for_the_driver(
    installed: list[str],
    offered: tuple[int, int] | None,
    state: str,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cuda, "installed_cupy", lambda: installed)
    monkeypatch.setattr(cuda, "driver_version", lambda: offered)
    answer = only(cuda.cupy())
    assert answer.state == state
    assert words in answer.advice


@pytest.mark.parametrize(
    ("package", "major"), [("cupy-cuda12x 14.0", 12), ("cupy-cuda117 13", 117), ("cupy 14", None)]
)
def test_cuda_major(package: str, major: int | None) -> None:
    assert cuda.cuda_major(package) == major


def test_a_refused_lock_says_how_to_raise_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradtool.transfer.errors import UnavailableError
    from gradtool.transfer.machines.host import locked_memory

    def refused(array: Any) -> None:
        raise UnavailableError("mlock of 4 KiB was refused")

    monkeypatch.setattr(locked_memory, "lock_pages", refused)
    answer = only(machine.page_locking())
    assert (answer.state, answer.found) == ("broken", "mlock of 4 KiB was refused")
    assert "ulimit -l" in answer.advice


def test_no_fork_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.fork")
    assert only(machine.isolation()).state == "missing"


def test_the_page_wraps_under_what_it_says() -> None:
    answers = [
        ProbeResult(name="a", state="works", found="x " * 30, advice="do this " * 6),
        ProbeResult(name="longer", state="broken", found="no"),
    ]
    file = io.StringIO()
    console = make_console(file, "never", width=40)
    render([msgspec.to_builtins(each) for each in answers], console, verdict="so it is")
    assert file.getvalue() == (
        "ok  a       x x x x x x x x x x x x x x\n"
        "            x x x x x x x x x x x x x x\n"
        "            x x\n"
        "            -> do this do this do this\n"
        "               do this do this do this\n"
        "!!  longer  no\n"
        "\n"
        "so it is\n"
    )

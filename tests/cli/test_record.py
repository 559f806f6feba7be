"""``gradtool record``, from the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gradtool.cli.app import main
from gradtool.config.files import load_config
from tests.record.test_recording import OPS

TEST = """
import torch
from ops import Take


def test_it():
    for size in (2, 3):
        Take.apply(torch.rand(size, requires_grad=True), "mean")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(OPS)
    (tmp_path / "test_ops.py").write_text(TEST)
    return tmp_path


def record(*options: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_ops.py"]
    return main(["record", "--engine", "bundled", *options, "--", *command])


def test_cases_are_written_and_checked(project, capfd):
    assert record() == 0
    (section,) = load_config(project / "gradtool.yaml").functions.items()
    assert section[0] == "ops.py::Take"
    assert [case.args[0]["shape"] for case in section[1].cases] == [[2], [3]]
    out = capfd.readouterr().out
    assert "gradtool.yaml: 2 new cases of 1 Function" in out
    assert "1 Function, 2 cases" in out


def test_findings_of_recorded_cases_name_the_configuration_only_where_it_is_not_found(
    project, capfd
):
    (project / "ops.py").write_text(OPS.replace("2 * g", "3 * g"))
    record()
    assert "--config" not in capfd.readouterr().out
    record("--config", "other.yaml")
    assert "--config other.yaml" in capfd.readouterr().out


def test_a_wrong_gradient_fails(project):
    (project / "ops.py").write_text(OPS.replace("2 * g", "3 * g"))
    assert record() == 1


def test_replaced_samples_are_reported(project, capfd):
    samples = "    @staticmethod\n    def sample_inputs():\n        yield torch.ones(2), 'mean'\n"
    (project / "ops.py").write_text(OPS.replace("\n\nclass Filter", f"{samples}\n\nclass Filter"))
    record("--no-check")
    assert (
        "ops.py::Take: the cases in that file replace its sample_inputs" in capfd.readouterr().err
    )


def test_a_second_run_adds_nothing(project, capfd):
    record("--no-check")
    before = (project / "gradtool.yaml").read_text()
    assert record("--no-check") == 0
    assert (project / "gradtool.yaml").read_text() == before
    assert "0 new cases of 1 Function" in capfd.readouterr().out


def test_a_broken_configuration_is_refused_before_the_command_runs(project, capfd):
    (project / "gradtool.yaml").write_text("version: 2\n")
    (project / "test_ops.py").write_text("open('ran', 'w')\n")
    assert record() == 2
    assert not (project / "ran").exists()


def test_a_command_that_failed_is_not_said_to_call_nothing(project, capfd):
    (project / "test_ops.py").write_text("def test_it(): assert False\n")
    assert record() == 5
    assert "the command exited with code 1" in (err := capfd.readouterr().err)
    assert "called no Function" not in err


def test_nothing_recorded_is_said(project, capfd):
    (project / "test_ops.py").write_text("def test_it(): pass\n")
    assert record() == 5
    assert "called no Function that is defined in this folder" in capfd.readouterr().err

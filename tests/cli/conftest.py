"""A gate that reports what it is told to, so that the command line is tested by itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

import gradtool.run
from gradtool.cli.app import main
from gradtool.config.options import CheckOptions, Watcher
from gradtool.results.report import ModuleResult, Report
from tests.report.schema_check import reports_obey_their_schema

__all__ = ["reports_obey_their_schema"]  # Of pytest: for every test below this folder.

GOLDEN = Path(__file__).parents[1] / "report" / "golden"


class FakeGate(ModuleType):
    """Stands where `gradtool.run.runner` does."""

    def __init__(self) -> None:
        super().__init__("gradtool.run.runner")
        everything = msgspec.json.decode((GOLDEN / "report.json").read_bytes(), type=Report)
        self.report = everything
        self.during: Callable[[], object] = lambda: None
        self.options: CheckOptions | None = None

    def passes(self) -> None:
        """Report nothing but the module in which all is right."""
        self.report = msgspec.structs.replace(self.report, modules=self.report.modules[:1])

    def check(self, options: CheckOptions, watcher: Watcher | None) -> Report:
        self.options = options
        self.during()
        return self.report

    def collect(self, options: CheckOptions) -> tuple[ModuleResult, ...]:
        self.options = options
        return self.report.modules


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> FakeGate:
    fake = FakeGate()
    monkeypatch.setitem(sys.modules, "gradtool.run.runner", fake)
    monkeypatch.setattr(gradtool.run, "runner", fake, raising=False)
    return fake


@pytest.fixture(autouse=True)
def empty_folder(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Work where nothing lies about, so that a crash log would be seen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))
    for name in ("NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def logs(empty_folder: Path) -> Path:
    """The folder that crash logs go to."""
    return Path(os.environ["XDG_CACHE_HOME"], "gradtool")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line; gives the exit code, standard output and standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run

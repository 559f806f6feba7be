"""Settings and fixtures for all tests."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.mark.structures import get_unpacked_marks
from hypothesis import settings

from gradtool.collect.torch_alias import alias as torch_alias
from gradtool.collect.torch_alias import missing_names
from gradtool.config import settings as settings_module

Write = Callable[[dict[str, str]], Path]

settings.register_profile("shared machines", deadline=None)
settings.load_profile("shared machines")  # How long an example takes says nothing there.


def pytest_configure() -> None:
    """Listen to Ctrl-C even where a shell started the tests in the background, which ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        _keep_bytecode_elsewhere()


def _keep_bytecode_elsewhere() -> None:
    """Let the processes of this run share bytecode, outside of the tree that it must not enter.

    Hundreds of them load gradtool, and compiling it takes longer than loading it.
    """
    folder = tempfile.TemporaryDirectory(prefix="bytecode")
    atexit.register(folder.cleanup)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = folder.name
    sys.dont_write_bytecode = False


LACKS_TORCH = find_spec("torch") is None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Collector, name: str, obj: object
) -> list[pytest.Item] | None:
    """Make no tests that need PyTorch where it is not installed: they would be half of all."""
    if not LACKS_TORCH or not name.startswith("test"):
        return None
    marks = [*collector.iter_markers(), *get_unpacked_marks(obj)]
    return [] if any(mark.name == "torch" for mark in marks) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out."""
    if LACKS_TORCH:
        terminalreporter.write_line("PyTorch is not installed: no test marked torch was run")


@pytest.fixture
def scripts_run_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what running a script changes of the process, which is meant to end with it."""
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(missing_names, "shown_as_torch", False)
    monkeypatch.setattr(missing_names, "show_as_torch", lambda _module: None)
    monkeypatch.setattr(missing_names, "show_private_as_torch", lambda: None)
    depth = torch_alias._alias._depth
    yield
    while torch_alias._alias._depth > depth:
        torch_alias._alias.leave()


@pytest.fixture(autouse=True)
def _explores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the given cases only, unless a test says otherwise: the others are of other things."""
    monkeypatch.setattr(settings_module, "DEFAULT_EXPLORE", "off")


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write files, by their paths, into a fresh folder that becomes the current one."""
    monkeypatch.chdir(tmp_path)

    def written(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return written

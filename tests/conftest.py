"""Settings and fixtures for all tests."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
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

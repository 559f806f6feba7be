"""What a person sees in a real terminal while a run is under way, and when it is done."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import gradtool
from tests.user_modules import GOOD, WRONG

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

_SOURCE = Path(gradtool.__file__).parents[1]
_PATIENCE = 60.0

WAITING = GOOD.replace(
    "    def forward(ctx, x):\n",
    "    def forward(ctx, x):\n"
    "        import pathlib, time\n"
    "        while not pathlib.Path('go').exists():\n"
    "            time.sleep(0.01)\n",
)
"""The Functions of `GOOD`, the first of which waits for a file."""


class Terminal:
    """A terminal of 100 columns and 40 rows, with a shell of its own."""

    def __init__(self, folder: Path) -> None:
        # A server of its own, below a path that is short enough for a socket.
        self._place = tempfile.TemporaryDirectory(prefix="tmux-")
        self._do("new-session", "-d", "-x", "100", "-y", "40", "-c", str(folder), "sh")

    def run(self, *arguments: str) -> None:
        """Begin a run of gradtool."""
        command = shlex.join([sys.executable, "-m", "gradtool", *arguments])
        self._do("send-keys", "-l", f"PYTHONPATH={shlex.quote(str(_SOURCE))} {command}; echo done")
        self._do("send-keys", "Enter")

    def screen(self) -> str:
        """What is on the screen now."""
        return self._do("capture-pane", "-p")

    def wait(self, shown: Callable[[str], bool]) -> str:
        """The screen once it is as wanted."""
        until = time.monotonic() + _PATIENCE
        while not shown(screen := self.screen()):
            assert time.monotonic() < until, screen
            time.sleep(0.05)
        return screen

    def close(self) -> None:
        """End the terminal and what runs in it."""
        with self._place:
            self._do("kill-server")

    def _do(self, *arguments: str) -> str:
        return subprocess.run(
            ["tmux", "-f", os.devnull, *arguments],
            env={**os.environ, "TMUX_TMPDIR": self._place.name},
            check=True,
            capture_output=True,
            text=True,
            timeout=10,
        ).stdout


@pytest.fixture
def terminal(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.setenv("PS1", "$ ")
    monkeypatch.delenv("TMUX", raising=False)
    opened = Terminal(empty_folder)
    yield opened
    opened.close()


def is_done(screen: str) -> bool:
    return "\ndone\n" in screen


def test_failed_first_shows_at_once_that_it_still_fails(terminal: Terminal) -> None:
    Path("a.py").write_text(WAITING)
    Path("b.py").write_text(WRONG)
    Path(".gradtool_cache").mkdir()
    Path(".gradtool_cache/last.json").write_text('{"version": 1, "failed": ["b.py::Cube"]}')
    terminal.run("check", ".", "--select", "GT101", "-j", "1", "--ff", "--format", "concise")
    terminal.wait(lambda screen: re.search(r"1/3 .*1 failed", screen) is not None)
    Path("go").touch()
    screen = terminal.wait(is_done)
    assert "\nb.py:12: GT101 gradient of `x` differs from the derivative" in screen
    assert "\n3 Functions, 3 cases: 2 passed, 1 failed" in screen
    assert "1/3" not in screen


def test_the_header_says_what_the_configuration_is_made_of(terminal: Terminal) -> None:
    Path("a.py").write_text(GOOD)
    Path("gradtool.yaml").write_text("nonsense")
    given = ("--isolated", "--config", "check.timeout=90")
    terminal.run("check", "a.py", "--select", "GT101", *given)
    screen = terminal.wait(is_done)
    assert "\nconfiguration: no file (--isolated), --config check.timeout=90\n" in screen
    terminal.run("check", "a.py", "--config", "check.timout=9")
    message = (
        "error: --config check.timout=9: unknown key 'timout' in check (did you mean 'timeout'?)"
    )
    terminal.wait(lambda screen: f"\n{message}\ndone\n" in screen)

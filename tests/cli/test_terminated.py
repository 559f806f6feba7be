"""A command that is asked to end puts its files away, tells what was done, and says by what."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from gradtool.cli.output.reports import claim_outputs
from gradtool.results.report import Report
from gradtool.sandbox import interrupts
from gradtool.sandbox.interrupts import ended_by, gently_terminated
from tests.user_modules import GOOD

Run = Callable[..., tuple[int, str, str]]

REQUESTS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
SLOW = "\nimport pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(300)\n"


@pytest.fixture(autouse=True)
def as_in_a_fresh_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No request has been heard, and any is at its default, even where nohup started the tests."""
    monkeypatch.setattr(interrupts, "_last_request", None)
    before = {number: signal.signal(number, signal.SIG_DFL) for number in REQUESTS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def ask(number: signal.Signals) -> None:
    """Ask this process to end, if that is not the end of the tests."""
    assert signal.getsignal(number) is not signal.SIG_DFL
    signal.raise_signal(number)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the run is slow in its workers")
@pytest.mark.parametrize("number", REQUESTS)
def test_a_run_that_is_ended_reports_and_leaves_no_partial_file(
    tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "a.py").write_text(GOOD + SLOW)
    (tmp_path / "part").mkdir()
    files = ("--report", "json=part/r.json", "--report", "html=part/r.html")
    baseline = ("--write-baseline", "--baseline", "part/b.json")
    run = subprocess.Popen(
        [sys.executable, "-m", "gradtool", "check", "a.py", "--no-cache", *files, *baseline],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    until = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.02)
    run.send_signal(number)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 128 + number, err
    assert "interrupted" in out.splitlines()[-2]
    assert sorted(path.name for path in (tmp_path / "part").iterdir()) == ["r.html", "r.json"]
    report = msgspec.json.decode((tmp_path / "part/r.json").read_bytes(), type=Report)
    assert (report.interrupted, report.exit_code) == (True, 128 + number)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no terminal to close")
def test_a_run_whose_terminal_is_closed_reports_and_is_no_crash(tmp_path: Path) -> None:
    import pty

    (tmp_path / "a.py").write_text(GOOD + SLOW)
    ours, theirs = pty.openpty()
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    run = subprocess.Popen(
        [sys.executable, "-m", "gradtool", "check", "a.py", "--report", "json=r.json"],
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, **variables},
    )
    os.close(theirs)
    until = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.02)
    os.close(ours)
    run.send_signal(signal.SIGHUP)  # As the terminal does to the session that it controls.
    assert run.wait(timeout=60) == 128 + signal.SIGHUP
    assert not list(tmp_path.rglob("*crash*"))
    report = msgspec.json.decode((tmp_path / "r.json").read_bytes(), type=Report)
    assert report.interrupted


@pytest.mark.parametrize("number", REQUESTS)
def test_what_ends_a_command_is_its_exit_code(gate, run: Run, number: signal.Signals) -> None:
    gate.during = lambda: ask(number)
    assert run("check", "a.py", "--report", "json=r.json") == (128 + number, "", "")
    assert list(Path().iterdir()) == []


def test_a_later_interrupt_has_its_own_exit_code(gate, run: Run) -> None:
    gate.during = lambda: ask(signal.SIGTERM)
    assert run("check", "a.py")[0] == 143
    gate.during = lambda: signal.raise_signal(signal.SIGINT)
    assert run("check", "a.py")[0] == 130


@pytest.mark.parametrize("number", REQUESTS)
def test_whatever_claims_files_gives_them_up(number: signal.Signals) -> None:
    with contextlib.suppress(KeyboardInterrupt), claim_outputs(["json=r.json", "html=r.html"]):
        assert len(list(Path().iterdir())) == 2
        ask(number)
    assert list(Path().iterdir()) == []
    assert ended_by() == number
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_request_that_comes_twice_interrupts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with gently_terminated():
        with pytest.raises(KeyboardInterrupt):
            ask(signal.SIGTERM)
        ask(signal.SIGTERM)
        now += 10
        with pytest.raises(KeyboardInterrupt):
            ask(signal.SIGTERM)


def test_a_block_within_a_block_changes_nothing() -> None:
    with gently_terminated():
        with gently_terminated():
            pass
        with pytest.raises(KeyboardInterrupt):
            ask(signal.SIGTERM)


def test_a_request_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with gently_terminated():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended_by() is None


LEAVES_WITH_A_THREAD = """
import sys, threading, time
from gradtool.cli import main

threading.Thread(target=time.sleep, args=(0.2,)).start()
main.main = lambda: 129
sys.argv = ["gradtool", "check", "a.py"]
sys.stdout = open(1, "w", buffering=4096)
print("unread")
main.run()
"""


def test_the_code_of_a_signal_stays_where_a_thread_runs_on_and_nobody_reads() -> None:
    read, write = os.pipe()
    run = subprocess.Popen([sys.executable, "-c", LEAVES_WITH_A_THREAD], stdout=write)
    os.close(write)
    os.close(read)
    assert run.wait(timeout=60) == 129

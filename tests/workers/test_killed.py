"""A run that is stopped from outside leaves no process, and no half of a report.

``GRADTOOL_TEST_KILLS`` sets how many signals are sent, to the run, to the process that its workers
are forked from, or to a worker; few by default.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from random import Random

import msgspec
import pytest

from gradtool.cli.exit_codes import ExitCode
from gradtool.results.report import Report
from tests.workers.hostile_functions import GOOD, Hostile, source
from tests.workers.processes import Marked

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("GRADTOOL_TEST_KILLS", "3"))
ROLES = {"run": 0, "fork server": 1, "worker": 2}
"""Each with the number of its ancestors within the run."""
SIGNALS = (
    signal.SIGKILL,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGSTOP,
)
INTERRUPTED = (ExitCode.HUNG_UP, ExitCode.INTERRUPTED, ExitCode.TERMINATED)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="isolation needs fork")


def start(folder: Path, marked: Marked, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gradtool", "check", *arguments, "--report", "json=report.json"],
        cwd=folder,
        env=marked.environment(PYTHONPATH=str(ROOT)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def checked(tmp_path: Path) -> Path:
    """A folder with a right Function, a wrong one, one that leaves a daemon, and an old report."""
    wrong = source(GOOD).replace("return 2 *", "return 3 *")
    (tmp_path / "right.py").write_text(source(GOOD))
    (tmp_path / "slow.py").write_text(source(Hostile("Slow", "time.sleep(0.02)", None)))
    (tmp_path / "wrong.py").write_text(wrong)
    (tmp_path / "daemon.py").write_text(source(Hostile("Daemon", "leave_a_daemon()", None)))
    (tmp_path / "report.json").write_text('"old"')
    return tmp_path


@pytest.mark.parametrize("number", range(KILLS))
def test_a_signal_leaves_no_process_no_half_report_and_no_false_pass(
    checked: Path, number: int
) -> None:
    chance = Random(number)
    role, sent = chance.choice(list(product(ROLES, SIGNALS)))
    with Marked() as marked:
        run = start(checked, marked, ".", "-j", "2", "--timeout", "4")
        time.sleep(chance.uniform(0.0, 3.0))
        hit(run, ROLES[role], sent, chance)
        _, err = run.communicate(timeout=60)
        assert marked.left() == []
    # At once, or as the interpreter was starting, which may also give up with an error of its own.
    ended_by_it = run.returncode == -sent or "Fatal Python error: init" in err
    assert ended_by_it or "Traceback" not in err
    if role == "run":  # The signal comes too late where the run has ended.
        assert ended_by_it or run.returncode in {ExitCode.FAILED, *INTERRUPTED}
    else:
        assert run.returncode in {ExitCode.FAILED, ExitCode.NOT_IMPORTED}
    require_undamaged(checked, is_over=run.returncode == ExitCode.FAILED and not ended_by_it)


@pytest.mark.parametrize("sent", [signal.SIGSTOP, signal.SIGINT])
def test_a_fork_server_that_is_hit_as_it_starts_is_replaced(
    checked: Path, sent: signal.Signals
) -> None:
    with Marked() as marked:
        run = start(checked, marked, "right.py", "wrong.py")
        hit(run, ROLES["fork server"], sent, Random(0))
        _, err = run.communicate(timeout=60)
        assert marked.left() == []
    assert "Traceback" not in err
    assert run.returncode == ExitCode.FAILED
    require_undamaged(checked, is_over=False)


def hit(run: subprocess.Popen[str], depth: int, sent: signal.Signals, chance: Random) -> None:
    """Send a signal to the run, or to one of its descendants at a depth, once there is one."""
    while run.poll() is None and not descendants(run.pid, depth):
        time.sleep(0.002)
    if not (found := descendants(run.pid, depth)):
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(chance.choice(found), sent)
        if sent == signal.SIGSTOP and depth == 0:
            time.sleep(0.5)
            run.send_signal(signal.SIGCONT)


def descendants(pid: int, depth: int) -> list[int]:
    """Process ids of the children of a process; of their children with depth 2, and so on."""
    if not depth:
        return [pid]
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        # One that is stopped before it runs its program holds up who starts it, whoever that is.
        started = [c for c in children if b"fork_server" in Path(f"/proc/{c}/cmdline").read_bytes()]
    except OSError:
        return []
    return [each for child in started for each in descendants(int(child), depth - 1)]


def require_undamaged(folder: Path, *, is_over: bool) -> None:
    """Find the old report or a whole new one in which nothing passes that is wrong."""
    assert not list(folder.glob("gradtool-crash-*"))
    raw = (folder / "report.json").read_bytes()
    if raw == b'"old"':
        assert not is_over
        return
    modules = msgspec.json.decode(raw, type=Report).modules
    verdicts = {module.path: module.verdict.value for module in modules}
    assert verdicts.get("wrong.py") != "pass"
    # A run that reached its end blames a signal on one file at most.
    assert not is_over or list(verdicts.values()).count("pass") >= 2


@pytest.mark.slow
def test_an_interrupt_reports_what_was_checked(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(source(GOOD))
    (tmp_path / "z.py").write_text(source(Hostile("Endless", "loop()", None)))
    with Marked() as marked:
        run = start(tmp_path, marked, "a.py", "z.py", "-j", "1", "-v", "--timeout", "100")
        time.sleep(8)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
        assert marked.left() == []
    assert run.returncode == 130, err
    assert "interrupted" in out.splitlines()[-2]
    report = msgspec.json.decode((tmp_path / "report.json").read_bytes(), type=Report)
    assert report.interrupted
    assert report.modules[0].verdict.value == "pass"

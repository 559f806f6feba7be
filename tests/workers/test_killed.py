"""A run that is stopped from outside leaves no process, and no half of a report.

``GRADTOOL_TEST_KILLS`` sets how often the run is killed, 5 times by default.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from gradtool.results.report import Report
from tests.workers.hostile_functions import GOOD, Hostile, source
from tests.workers.processes import Marked

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("GRADTOOL_TEST_KILLS", "5"))

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


@pytest.mark.slow
def test_a_killed_run_leaves_neither_a_process_nor_half_a_report(tmp_path: Path) -> None:
    daemon = Hostile("Daemon", "leave_a_daemon()", None)
    (tmp_path / "ops.py").write_text(source(GOOD, daemon))
    (tmp_path / "loop.py").write_text(source(Hostile("Slow", "time.sleep(0.02)", None)))
    (tmp_path / "report.json").write_text('"old"')
    chance = random.Random(0)
    for _ in range(KILLS):
        with Marked() as marked:
            run = start(tmp_path, marked, ".", "-j", "2")
            time.sleep(chance.uniform(0.1, 4.0))
            run.kill()
            run.communicate()
            assert marked.left() == []
        found = json.loads((tmp_path / "report.json").read_text())
        assert found == "old" or found["modules"]


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
    assert "interrupted" in out.splitlines()[-1]
    report = msgspec.json.decode((tmp_path / "report.json").read_bytes(), type=Report)
    assert report.interrupted
    assert report.modules[0].verdict.value == "pass"

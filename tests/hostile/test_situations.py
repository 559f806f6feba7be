"""Whatever is odd beside it, a wrong gradient is found, and a right one passes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from gradtool.results.report import Report
from tests.hostile import runs
from tests.hostile.meddling import MEDDLING
from tests.hostile.situations import ENVIRONMENTS, FILES, RIGHT, WRONG, Situation
from tests.workers.processes import Marked

pytestmark = pytest.mark.skipif(runs.needs_fork, reason="isolation needs fork")

SITUATIONS = [*FILES, *ENVIRONMENTS, *MEDDLING]

EVERY = 7
"""The fast selection takes one of so many; the slow one takes the others."""


def _parameters() -> list[object]:
    return [
        pytest.param(situation, id=situation.name, marks=[pytest.mark.slow] if n % EVERY else [])
        for n, situation in enumerate(SITUATIONS)
    ]


@pytest.mark.parametrize("situation", _parameters())
def test_the_verdicts_stand(tmp_path: Path, situation: Situation) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    runs.write(folder, right=RIGHT, wrong=WRONG)
    situation.prepare(folder)
    done = _run(folder, situation)
    output = done.stdout + done.stderr
    assert done.returncode == situation.status, output
    assert "Traceback" not in done.stderr, output
    assert situation.says in output
    assert not (situation.never and re.search(situation.never, output, re.MULTILINE)), output
    assert not list(tmp_path.rglob("gradtool-crash-*"))
    if situation.is_reported:
        report = msgspec.json.decode((folder / "report.json").read_bytes(), type=Report)
        assert runs.passes(report, "right.py")
        assert runs.found_in(report, "wrong.py") == {"GT101"}
    else:
        assert not (folder / "report.json").exists()


def _run(folder: Path, situation: Situation) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "gradtool", "check", *situation.arguments]
    command += ["--timeout", "10", "--report", "json=report.json"]
    with Marked() as marked:
        done = subprocess.run(
            ["bash", "-c", situation.shell, "bash", *command],
            cwd=folder,
            env=marked.environment(PYTHONPATH=str(runs.ROOT), **situation.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120,
        )
        assert marked.left() == [], "a process was left behind"
    return done


def test_there_are_many() -> None:
    names = [situation.name for situation in SITUATIONS]
    assert len(names) == len(set(names)) >= 60

"""Runs at the same time, and files that are no files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile import runs
from tests.hostile.modules import HEAD, function

pytestmark = pytest.mark.skipif(runs.needs_fork, reason="isolation needs fork")

WRONG = HEAD + function(right=False)
RIGHT = HEAD + function(right=True)


def test_no_run_forgets_what_failed_in_another_at_the_same_time(tmp_path: Path) -> None:
    names = [f"m{number}" for number in range(3)]
    runs.write(tmp_path, **dict.fromkeys(names, WRONG))
    command = [sys.executable, "-m", "gradtool", "check", "-q"]
    environment = {**os.environ, "PYTHONPATH": str(runs.ROOT)}
    started = [
        subprocess.Popen(
            [*command, f"{name}.py"],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name in names
    ]
    assert [run.wait(timeout=120) for run in started] == [1, 1, 1]
    known = json.loads((tmp_path / ".gradtool_cache" / "last.json").read_text())
    assert known["failed"] == [f"{name}.py::Cube" for name in names]
    status, report = runs.check(tmp_path, ".", "--lf")
    assert status == 1
    assert [module.path for module in report.modules] == [f"{name}.py" for name in names]


@pytest.mark.parametrize(
    "place", ["gradtool.yaml", "gradtool-baseline.json", ".gradtool_cache/last.json"]
)
@pytest.mark.parametrize("target", ["pipe", "/dev/zero"])
def test_what_is_no_regular_file_is_refused_at_once(
    tmp_path: Path, place: str, target: str
) -> None:
    runs.write(tmp_path, m=RIGHT)
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    if target == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(target)
    options = {
        "gradtool.yaml": ["--config", place],
        "gradtool-baseline.json": ["--baseline", place],
    }
    option = options.get(place, ["--lf"])
    done = runs.gradtool(tmp_path, "check", "m.py", "-q", *option, timeout=60)
    assert done.returncode in (0, 2)
    assert "not a regular file" in done.stdout + done.stderr


def test_a_huge_configuration_is_refused(tmp_path: Path) -> None:
    runs.write(tmp_path, m=RIGHT)
    with (tmp_path / "gradtool.yaml").open("wb") as file:
        file.truncate(100 * 2**20)
    done = runs.gradtool(tmp_path, "check", "m.py", timeout=60)
    assert done.returncode == 2
    assert "larger than" in done.stderr

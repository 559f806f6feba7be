"""Standard streams that are closed, narrow or abandoned do not change the exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gradtool

_SOURCE = Path(gradtool.__file__).parents[1]
_GOLDEN = Path(__file__).parents[1] / "report" / "golden" / "report.json"

_PROGRAM = f"""
import sys, types
sys.path.insert(0, {str(_SOURCE)!r})
import msgspec
import gradtool.run
from gradtool.results.report import Report
from pathlib import Path
report = msgspec.json.decode(Path({str(_GOLDEN)!r}).read_bytes(), type=Report)
runner = types.ModuleType("runner")
runner.check = lambda options, watcher: report
gradtool.run.runner = sys.modules["gradtool.run.runner"] = runner
from gradtool.cli.app import main
raise SystemExit(main())
"""

_HERE = f"import sys; sys.path.insert(0, {str(_SOURCE)!r}); from gradtool.cli.main import main"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", _PROGRAM, "check", "--no-cache", "ops", *arguments]


PRINTED = [["--version"], ["--help"], ["check", "--help"], []]
"""What is printed while the command line is parsed."""


def gradtool_itself(*arguments: str) -> list[str]:
    return [sys.executable, "-c", f"{_HERE}; raise SystemExit(main())", *arguments]


def environment(**variables: str) -> dict[str, str]:
    return {**os.environ, **variables}


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_changes_neither_exit_code_nor_reports(
    tmp_path: Path, unbuffered: str
) -> None:
    process = subprocess.Popen(
        command("-vv", "--report", "json=out.json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(PYTHONUNBUFFERED=unbuffered),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), err) == (1, b"")
    assert (tmp_path / "out.json").read_bytes() == _GOLDEN.read_bytes()


def test_a_stream_that_knows_no_unicode_gets_ascii() -> None:
    done = subprocess.run(
        command("-v"), capture_output=True, env=environment(PYTHONIOENCODING="ascii")
    )
    assert done.returncode == 1
    assert b"4.48168907 +/- 3.1e-13" in done.stdout


def test_the_pages_of_all_rules_need_no_escapes_in_ascii() -> None:
    words = [sys.executable, "-m", "gradtool", "explain", "--all"]
    done = subprocess.run(words, capture_output=True, env=environment(PYTHONIOENCODING="ascii"))
    assert done.returncode == 0
    assert b"\\x" not in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="closing a descriptor needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_crash(closed: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *command()], capture_output=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command(), stdout=full, stderr=subprocess.PIPE, cwd=tmp_path)
    told = b"error: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, told)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", PRINTED)
def test_help_onto_a_full_disk_is_told_in_one_line(tmp_path: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            gradtool_itself(*arguments), stdout=full, stderr=subprocess.PIPE, cwd=tmp_path
        )
    told = b"error: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, told)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_of_the_help_may_leave(tmp_path: Path, unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            gradtool_itself("--help"), stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path,
            env=environment(PYTHONUNBUFFERED=unbuffered),
        )  # fmt: skip
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(tmp_path.iterdir()) == []

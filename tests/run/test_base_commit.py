"""``--baseline-commit``: only what was not found before the work began fails a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gradtool.cli.app import main
from tests.conftest import Write
from tests.user_modules import GOOD, WRONG

Check = Callable[..., tuple[int, str, str]]


pytestmark = pytest.mark.slow


def git(*arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    ran = subprocess.run(["git", *who, *arguments], check=True, capture_output=True, text=True)
    return ran.stdout


@pytest.fixture
def repository(write: Write) -> Path:
    """A commit with a wrong Function in the folder src, and one in a module that it imports."""
    root = write(
        {
            "src/ops.py": WRONG,
            "src/fine.py": GOOD,
            "src/helper.py": "FACTOR = 1\n",
            "src/uses.py": WRONG.replace("Cube", "Scaled").replace(
                "from gradtool", "from helper import FACTOR\nfrom gradtool"
            ),
        }
    )
    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    return root


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Check:
    """Check for GT101 against a commit, by default the one that is checked out."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "CI"):
        monkeypatch.delenv(name, raising=False)

    def check(*arguments: str, ref: str = "HEAD") -> tuple[int, str, str]:
        options = ("--select", "GT101", "--no-isolation", "--no-cache", "--baseline-commit", ref)
        code = main(["check", *options, *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return check


def nothing_is_left(root: Path) -> None:
    """No tree of a commit is there any more, on disk or in git's books."""
    assert len(git("-C", str(root), "worktree", "list").splitlines()) == 1
    assert not (root / ".git" / "worktrees").exists()


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where trees are put, so that it is seen when one stays."""
    folder = tmp_path_factory.mktemp("trees")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


def test_what_was_there_does_not_fail_and_what_is_new_does(
    repository: Path, write: Write, check: Check, temporary: Path
) -> None:
    code, out, _ = check(".")
    assert code == 0
    commit = git("rev-parse", "HEAD")[:12]
    assert f"--baseline-commit HEAD: 2 of 2 findings already present at {commit}\n" in out
    assert "2 findings in the baseline" in out
    write({"src/new.py": WRONG.replace("Cube", "New")})
    code, out, _ = check(".")
    assert code == 1
    assert "--baseline-commit HEAD: 2 of 3 findings already present" in out
    assert "src/new.py:" in out
    assert "error GT101" in out
    assert "src/ops.py:" not in out
    nothing_is_left(repository)
    assert list(temporary.iterdir()) == []


def test_the_other_tree_has_its_own_modules(repository: Path, write: Write, check: Check) -> None:
    write({"src/helper.py": "raise ImportError('not yet')\n"})
    code, out, _ = check("src/uses.py")
    assert code == 4
    assert "1 of 2 findings already present" in out


def test_it_works_from_a_folder_of_the_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch, check: Check
) -> None:
    monkeypatch.chdir(repository / "src")
    code, out, _ = check("ops.py::Cube")
    assert code == 0
    assert "1 of 1 finding already present" in out
    (repository / "later").mkdir()
    monkeypatch.chdir(repository / "later")
    assert check("../src")[0] == 0
    assert check(str(repository / "src" / "ops.py"))[0] == 0


def test_what_others_did_to_the_branch_meanwhile_does_not_count(
    repository: Path, write: Write, check: Check
) -> None:
    git("checkout", "-b", "mine")
    git("checkout", "main")
    write({"src/ops.py": GOOD})
    git("commit", "-am", "two")
    git("checkout", "mine")
    assert check("src/ops.py", ref="main")[0] == 0


def test_its_configuration_and_options_hold_there(
    repository: Path, write: Write, check: Check
) -> None:
    write({"gradtool.yaml": "version: 1\nfunctions: {Cube: {atol: 100.0}}\n"})
    git("add", ".")
    git("commit", "-m", "lenient")
    write({"gradtool.yaml": "version: 1\n"})
    code, out, _ = check("src/ops.py")
    assert code == 1
    assert "0 of 1 finding already present" in out
    code, out, _ = check("src/ops.py", "--config", "gradtool.yaml")
    assert code == 1
    assert check("src/ops.py", "--rtol", "0", "--atol", "0")[0] == 0
    assert check("src/ops.py", "--flake", "2", "--atol", "0")[0] == 0


def test_nothing_is_asked_of_the_commit_where_nothing_is_found(
    repository: Path, check: Check
) -> None:
    code, out, _ = check("src/fine.py")
    assert code == 0
    assert "already present" not in out


def test_with_a_file_of_known_findings_both_hold(
    repository: Path, write: Write, check: Check
) -> None:
    write({"src/new.py": WRONG.replace("Cube", "New")})
    assert check("src/new.py", "--baseline", "known.json", "--write-baseline")[0] == 0
    code, out, _ = check("src", "--baseline", "known.json")
    assert code == 0
    assert "2 of 2 findings already present" in out
    assert "3 findings in the baseline" in out


@pytest.mark.parametrize("ref", ["no-such", "--all", "", "HEAD:src/ops.py", "@{"])
def test_a_reference_that_git_does_not_know_is_refused(
    repository: Path, check: Check, ref: str
) -> None:
    code, out, err = check("src", f"--baseline-commit={ref}")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: --baseline-commit: {ref!r} is not a commit of the repository ")
    assert err.count("\n") == 1


def test_outside_a_repository_there_is_no_commit(
    write: Write, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({"ops.py": WRONG})
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))
    code, _, err = check("ops.py")
    assert (code, err) == (2, f"error: --baseline-commit: {root} is not in a git repository\n")


def test_a_configuration_that_is_broken_there_is_one_line(
    repository: Path, write: Write, check: Check
) -> None:
    write({"gradtool.yaml": "version: 1\nchek: {}\n"})
    git("add", ".")
    git("commit", "-m", "broken")
    write({"gradtool.yaml": "version: 1\n"})
    code, _, err = check("src/ops.py")
    assert code == 2
    assert err.startswith("error: --baseline-commit: HEAD cannot be checked: ")
    assert "gradtool.yaml:2: unknown key 'chek'" in err
    assert err.count("\n") == 1
    nothing_is_left(repository)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_no_tree_behind(
    repository: Path, write: Write, temporary: Path, number: signal.Signals, code: int
) -> None:
    sleepy = "import os, time\nif 'gradtool-' in os.path.abspath(__file__): time.sleep(60)\n"
    write({"src/ops.py": sleepy + WRONG})
    git("commit", "-am", "two")
    command = ("-m", "gradtool", "check", "src/ops.py", "--baseline-commit", "HEAD", "--no-cache")
    process = subprocess.Popen(
        [sys.executable, *command, "--report", "json=out.json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    until = time.monotonic() + 60
    while not list(temporary.glob("gradtool-*/tree/src/ops.py")) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(30) == code
    nothing_is_left(repository)
    assert list(temporary.iterdir()) == []
    assert Path("out.json").exists()

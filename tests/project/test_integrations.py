"""What others plug gradtool in with: the GitHub action, the pre-commit hook; and our own nox."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
SAMPLES = ROOT / "samples"


def load(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with the program gradtool, and a Python that says what it is asked to install."""
    folder = tmp_path / "bin"
    folder.mkdir()
    scripts = {
        "gradtool": f'exec {sys.executable} -m gradtool "$@"',
        "python": f'[ "$1" = -c ] && exec {sys.executable} "$@"; printf "%s\\n" "$@"',
    }
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def run(script: str, programs: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a runner of GitHub's does."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GITHUB_")}
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment = {**clean, "PATH": path, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **variables}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(
        command, cwd=programs.parent, env=environment, capture_output=True, text=True, check=False
    )


def test_the_action_uses_the_inputs_it_declares_and_no_others() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    assert all("description" in each and "default" in each for each in ACTION["inputs"].values())


def test_no_input_becomes_part_of_a_script() -> None:
    scripts = [step["run"] for step in STEPS.values() if "run" in step]
    assert scripts
    assert not [script for script in scripts if "${{" in script]


def check_step(
    programs: Path, paths: str, summary: str = "true", args: str = "--select GT1"
) -> tuple[int, Path]:
    folder = programs.parent
    ended = run(
        STEPS["Check gradients"]["run"],
        programs,
        PATHS=paths,
        ARGS=args,
        SARIF="out.sarif",
        SUMMARY=summary,
        GITHUB_OUTPUT=str(folder / "output"),
        GITHUB_STEP_SUMMARY=str(folder / "summary.md"),
    )
    return ended.returncode, folder


def test_the_action_reports_and_ends_as_gradtool_does(programs: Path) -> None:
    status, folder = check_step(programs, f"{SAMPLES / 'wrong' / 'forgotten_factor.py'}")
    assert status == 1
    assert (folder / "output").read_text(encoding="utf-8") == "exit-code=1\n"
    assert '"GT101"' in (folder / "out.sarif").read_text(encoding="utf-8")
    assert "GT101" in (folder / "summary.md").read_text(encoding="utf-8")


def test_the_action_reads_its_args_as_a_shell_does(programs: Path) -> None:
    both = f"{SAMPLES / 'wrong' / 'forgotten_factor.py'} {SAMPLES / 'exp.py'}"
    assert check_step(programs, both, args="-k 'Exp and not Cube' --select GT1")[0] == 0
    assert check_step(programs, both, args="-k Cube --select '$(echo GT1)'")[0] == 2


def test_the_action_fails_where_a_quote_of_its_args_is_not_closed(programs: Path) -> None:
    status, folder = check_step(programs, str(SAMPLES / "exp.py"), args="-k 'Exp")
    assert status == 2
    assert (folder / "output").read_text(encoding="utf-8") == "exit-code=2\n"
    assert not (folder / "out.sarif").exists()


def test_the_action_takes_several_paths_and_leaves_the_summary_away(programs: Path) -> None:
    status, folder = check_step(programs, f"{SAMPLES / 'exp.py'} {SAMPLES / 'jvp.py'}", "false")
    assert status == 0
    assert (folder / "output").read_text(encoding="utf-8") == "exit-code=0\n"
    assert not (folder / "summary.md").exists()


@pytest.mark.parametrize(
    ("version", "what"), [("", "/action"), ("==0.1.0", "gradtool==0.1.0")], ids=["own", "released"]
)
def test_the_action_installs_what_is_asked_for(programs: Path, version: str, what: str) -> None:
    ended = run(
        STEPS["Install gradtool"]["run"],
        programs,
        VERSION=version,
        REQUIREMENTS="torch==2.13.0 scipy",
        GITHUB_ACTION_PATH="/action",
    )
    words = ["-m", "pip", "install", "--quiet", what, "torch==2.13.0", "scipy"]
    assert ended.stdout.split() == words


@pytest.mark.parametrize(
    ("name", "status"), [("exp.py", 0), ("wrong/forgotten_factor.py", 1), ("no_functions.py", 0)]
)
def test_the_hook_passes_right_files_and_those_without_functions(
    programs: Path, name: str, status: int
) -> None:
    (hook,) = load(".pre-commit-hooks.yaml")
    (programs.parent / "no_functions.py").write_text("x = 1\n", encoding="utf-8")
    path = name if name == "no_functions.py" else str(SAMPLES / name)
    ended = run(f"{hook['entry']} {path}", programs)
    assert ended.returncode == status, ended.stdout + ended.stderr
    assert ("GT101" in ended.stdout) == bool(status)


HOOK = {
    "id",
    "name",
    "description",
    "entry",
    "language",
    "files",
    "types",
    "require_serial",
    "pass_filenames",
}
"""Keys of hooks that pre-commit knows, of those that are used here."""


def test_the_hooks_are_written_as_pre_commit_reads_them() -> None:
    offered = load(".pre-commit-hooks.yaml")
    (repository,) = load(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in (*offered, *repository["hooks"]):
        assert {"id", "name", "entry", "language"} <= hook.keys() <= HOOK, hook
    assert {hook["language"] for hook in offered} == {"python"}


def test_our_own_hooks_run_what_ci_runs() -> None:
    (repository,) = load(".pre-commit-config.yaml")["repos"]
    entries = {hook["id"]: hook["entry"].split() for hook in repository["hooks"]}
    for name in ("lint", "format", "types", "layering"):
        assert entries[name][0] == pieces_of_ci()[name].split()[0]


def test_one_word_runs_what_ci_runs() -> None:
    assert 'nox.options.sessions = ["ci"]' in NOX
    assert sessions()["ci"] == [[".ci/run"]]


def test_each_piece_of_ci_has_a_session() -> None:
    pieces = pieces_of_ci()
    assert {"lint", "types", "layering"} <= pieces.keys()
    for name, command in pieces.items():
        words = [word for word in command.split() if word != "--check"]
        assert words in sessions()[name], name


def test_the_version_of_pytorch_is_the_same_wherever_it_is_named() -> None:
    files = (".ci/run", "noxfile.py", "CONTRIBUTING.md")
    found = [re.findall(r"torch==([\d.]+)", (ROOT / name).read_text()) for name in files]
    assert all(found)
    assert len({version for each in found for version in each}) == 1


def pieces_of_ci() -> dict[str, str]:
    """The commands that CI runs in the tree, by the names of their steps."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    return dict(re.findall(r'^step "(\w+)" in_tree (.+)$', script, re.M))


NOX = (ROOT / "noxfile.py").read_text(encoding="utf-8")


def sessions() -> dict[str, list[list[str]]]:
    """The commands of each session, as far as they are written out."""
    found = {}
    for node in ast.parse(NOX).body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
            runs = [call for call in calls if ast.unparse(call.func) == "session.run"]
            found[node.name.rstrip("_")] = [
                [word.value for word in call.args if isinstance(word, ast.Constant)]
                for call in runs
            ]
    return found

"""Modules that a change affects: by their imports, their packages and their configuration."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gradtool.collect.changes import LocalImports, affected_by, changed_since
from gradtool.collect.targets import find_targets
from gradtool.config.files import Configs
from tests.conftest import Write
from tests.options import check_options

FILES = {
    "src/pkg/__init__.py": "",
    "src/pkg/base.py": "X = 1\n",
    "src/pkg/relative.py": "from .base import X\n",
    "src/pkg/absolute.py": "def f():\n    import pkg.base\n",
    "src/pkg/indirect.py": "from . import relative\n",
    "src/pkg/sub/__init__.py": "",
    "src/pkg/sub/above.py": "from ..base import *\n",
    "src/pkg/alone.py": "import numpy\n",
    "tests/test_base.py": "from pkg import base\n",
    "scripts/plain.py": "import helper\n",
    "scripts/helper.py": "",
    "scripts/broken.py": "def f(:\n",
}


def git(*arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(write: Write) -> Path:
    root = write({**FILES, "scripts/gradtool.yaml": "version: 1\n"})
    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    return root


def found(ref: str = "HEAD", path: str = ".") -> set[str]:
    options = check_options(paths=(path,))
    configs = Configs(options.config)
    targets = find_targets(options.selection.paths, configs.excludes)
    changed = changed_since(targets, ref)
    everything = frozenset[Path]().union(*changed.values())
    return {t.shown for t in affected_by(everything, targets, configs, tuple(changed))}


def test_nothing_changed_concerns_nothing(repository: Path) -> None:
    assert found() == set()


def test_a_change_concerns_all_that_import_it_in_whatever_way(
    repository: Path, write: Write
) -> None:
    write({"src/pkg/base.py": "X = 2\n"})
    assert found() == {
        "src/pkg/base.py",
        "src/pkg/relative.py",
        "src/pkg/absolute.py",
        "src/pkg/indirect.py",
        "src/pkg/sub/above.py",
        "tests/test_base.py",
    }


@pytest.mark.parametrize(
    ("changed", "concerns"),
    [
        ("src/pkg/__init__.py", {n for n in FILES if "pkg" in n} | {"tests/test_base.py"}),
        ("src/pkg/sub/__init__.py", {"src/pkg/sub/__init__.py", "src/pkg/sub/above.py"}),
        ("src/pkg/alone.py", {"src/pkg/alone.py"}),
        ("scripts/helper.py", {"scripts/helper.py", "scripts/plain.py"}),
        ("scripts/broken.py", {"scripts/broken.py"}),
        ("scripts/gradtool.yaml", {n for n in FILES if n.startswith("scripts/")}),
        ("README.md", set()),
    ],
)
def test_a_change_concerns_no_others(
    repository: Path, write: Write, changed: str, concerns: set[str]
) -> None:
    write({changed: FILES.get(changed, "version: 1") + "\n# changed\n"})
    assert found() == concerns


def test_a_file_that_is_gone_concerns_its_importers(repository: Path) -> None:
    Path("scripts/helper.py").unlink()
    assert found() == {"scripts/plain.py"}


def test_what_others_did_to_the_branch_meanwhile_does_not_count(
    repository: Path, write: Write
) -> None:
    git("checkout", "-b", "mine")
    write({"src/pkg/alone.py": "Y = 1\n"})
    git("commit", "-am", "two")
    git("checkout", "main")
    write({"scripts/helper.py": "Z = 1\n"})
    git("commit", "-am", "three")
    git("checkout", "mine")
    assert found("main") == {"src/pkg/alone.py"}


def test_a_hook_of_git_knows_the_same(
    repository: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index.lock")
    write({"src/pkg/alone.py": "Y = 1\n"})
    assert found() == {"src/pkg/alone.py"}


@pytest.mark.parametrize("place", ["vendored/steps.py", "vendored/steps/__init__.py"])
def test_an_import_is_found_where_python_looks_for_it(
    repository: Path, write: Write, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    write({place: "", "ops/op.py": "import steps\n"})
    git("add", ".")
    git("commit", "-m", "two")
    monkeypatch.syspath_prepend(str(repository / "vendored"))
    write({place: "Y = 1\n"})
    assert found(path="ops") == {"ops/op.py"}


def test_imports_in_a_circle_come_to_an_end(write: Write) -> None:
    root = write(
        {"a.py": "import b\n", "b.py": "import c\n", "c.py": "from . import x\nimport a\n"}
    )
    reached = LocalImports(()).reached(root.resolve() / "a.py")
    assert {path.name for path in reached if path.exists()} == {"a.py", "b.py", "c.py"}

"""Paths of a command line become files: each once, in a fixed order, with everything named."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gradtool.collect.targets import Target, find_targets
from gradtool.config.files import Configs, matches
from gradtool.config.options import ConfigOptions
from gradtool.errors import UsageError
from gradtool.results.paths import split_node_id


def nothing(_: Path) -> bool:
    return False


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [
        "b.py",
        "a.py",
        "notes.txt",
        ".hidden.py",
        "sub/c.py",
        "sub/deep/d.py",
        ".git/e.py",
        "__pycache__/f.py",
        "env/pyvenv.cfg",
        "env/lib/g.py",
    ]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(targets: list[Target]) -> list[str]:
    return [target.shown for target in targets]


def test_a_folder_is_walked_in_sorted_order_without_what_is_not_the_users(tree: Path) -> None:
    assert shown(find_targets((".",), nothing)) == ["a.py", "b.py", "sub/c.py", "sub/deep/d.py"]


def test_files_have_one_order_and_appear_once(tree: Path) -> None:
    found = find_targets(("sub", "b.py", "./b.py", str(tree / "a.py"), "sub/c.py"), nothing)
    assert shown(found) == ["a.py", "b.py", "sub/c.py", "sub/deep/d.py"]
    assert [target.named for target in found] == [True, True, True, False]


def test_a_file_outside_the_current_folder_is_shown_whole(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree / "sub")
    assert shown(find_targets(("../a.py", "c.py"), nothing)) == ["c.py", (tree / "a.py").as_posix()]


def test_what_is_excluded_is_left_out_of_a_walk_only(tree: Path) -> None:
    def excluded(path: Path) -> bool:
        return matches(path, tree, ("sub/deep", "a.*"))

    assert shown(find_targets((".",), excluded)) == ["b.py", "sub/c.py"]
    assert shown(find_targets(("a.py", "sub/deep"), excluded)) == ["a.py", "sub/deep/d.py"]


@pytest.mark.parametrize(
    ("pattern", "path", "left_out"),
    [
        ("wrong", "wrong", True),
        ("wrong", "deep/wrong", True),
        ("wrong", "wrong/a.py", False),
        ("wrong/", "wrong", True),
        ("wrong/*", "wrong/a.py", True),
        ("wrong/*", "deep/wrong/a.py", False),
        ("*/wrong", "deep/wrong", True),
        ("*_old.py", "deep/x_old.py", True),
        ("Wrong", "wrong", False),
    ],
)
def test_patterns(pattern: str, path: str, left_out: bool, tmp_path: Path) -> None:
    assert matches(tmp_path / path, tmp_path, (pattern,)) is left_out


def test_functions_and_cases_of_a_file_add_up(tree: Path) -> None:
    (target,) = find_targets(("a.py::F[x]", "a.py::G", "a.py::F[y]", "a.py::G[z]"), nothing)
    assert target.functions == {"F": {"x", "y"}, "G": set()}
    (whole,) = find_targets(("a.py::F", "a.py"), nothing)
    assert whole.whole


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.py", ("a.py", None, None)),
        ("a.py::F", ("a.py", "F", None)),
        ("a.py::F[with-bias]", ("a.py", "F", "with-bias")),
        ("a.py::F[a b]", ("a.py", "F", "a b")),
        ("a::b.py", ("a::b.py", None, None)),
        ("a::b.py::F[x]", ("a::b.py", "F", "x")),
        ("a.py::b.py::F", ("a.py::b.py", "F", None)),
        ("a.txt::F", ("a.txt", "F", None)),
    ],
)
def test_node_ids_are_taken_apart(text: str, parts: tuple[str | None, ...]) -> None:
    assert split_node_id(text) == parts


@pytest.mark.parametrize("text", ["a.py::", "::F", "a.py::F[", "a.py::F[x", "a.py::F[]"])
def test_broken_node_ids_are_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        split_node_id(text)
    assert str(refused.value) == f"{text!r} must be file.py::Function or file.py::Function[case]"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("aa.py", "aa.py does not exist (did you mean 'a.py'?)"),
        ("subb/c.py", "subb/c.py does not exist (did you mean 'sub'?)"),
        ("sub/zzz.py", "sub/zzz.py does not exist"),
        ("notes.txt", "notes.txt is not a Python file: its name must end in .py"),
        ("sub::F", "sub is a folder: name a file before '::'"),
        ("", "a path is empty: write . for the current folder"),
    ],
)
def test_what_cannot_be_a_module_is_refused(tree: Path, path: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        find_targets((path,), nothing)
    assert str(refused.value) == message


def test_links_that_lead_nowhere_are_met_on_a_walk(tree: Path) -> None:
    (tree / "sub/deep/loop.py").symlink_to("loop.py")
    (tree / "sub/deep/lost.py").symlink_to("nowhere.py")
    excluded = Configs(ConfigOptions()).excludes
    found = shown(find_targets(("sub/deep",), excluded))
    assert found == ["sub/deep/d.py", "sub/deep/loop.py", "sub/deep/lost.py"]


@pytest.mark.parametrize("name", ["lost.py", "lost.py::F", "loop.py"])
def test_a_named_link_that_leads_nowhere_is_refused(tree: Path, name: str) -> None:
    (tree / "lost.py").symlink_to("nowhere.py")
    (tree / "loop.py").symlink_to("loop.py")
    with pytest.raises(UsageError) as refused:
        find_targets((name,), nothing)
    assert str(refused.value) == f"{name[:7]} is a broken symbolic link"


def test_another_name_is_near_a_link_that_leads_nowhere(tree: Path) -> None:
    (tree / "aa.py").symlink_to("aa.py")
    with pytest.raises(
        UsageError, match=r"aa.py is a broken symbolic link \(did you mean 'a.py'\?\)"
    ):
        find_targets(("aa.py",), nothing)


def test_a_name_too_long_for_the_system_is_refused_in_one_line(tree: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: File name too long"):
        find_targets(("x" * 5000 + ".py",), nothing)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name themselves")
def test_a_name_that_is_no_text_is_refused_in_one_line(tree: Path) -> None:
    (tree / os.fsdecode(b"caf\xe9.py")).touch()
    with pytest.raises(UsageError) as refused:
        find_targets((".",), nothing)
    said = "/caf\\xe9.py: its name is not UTF-8 text; rename or --exclude it"
    assert str(refused.value).endswith(said)

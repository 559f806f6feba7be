"""``gradtool check --watch``: what runs again after a file is saved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import watchfiles

Run = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.slow

RIGHT = """\
from gradtool import Function
from {helper} import factor


class {name}(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * factor
"""


@pytest.fixture
def project(empty_folder: Path) -> Path:
    (empty_folder / "left_helper.py").write_text("factor = 3\n")
    (empty_folder / "right_helper.py").write_text("factor = 3\n")
    (empty_folder / "left.py").write_text(RIGHT.format(helper="left_helper", name="Left"))
    (empty_folder / "right.py").write_text(RIGHT.format(helper="right_helper", name="Right"))
    return empty_folder


def edited(monkeypatch: pytest.MonkeyPatch, folder: Path, *edits: dict[str, str]) -> list[Path]:
    """Let the watcher see `edits`, texts by file name, then Ctrl-C; return the watched folders."""
    watched: list[Path] = []

    def watch(
        *folders: Path, watch_filter: object, rust_timeout: int, yield_on_timeout: bool
    ) -> Iterator[set[tuple[object, str]]]:
        watched.extend(folders)
        assert isinstance(watch_filter, watchfiles.PythonFilter)
        assert rust_timeout < 1000
        assert yield_on_timeout
        yield set()
        for edit in edits:
            for name, text in edit.items():
                (folder / name).write_text(text)
            yield {(watchfiles.Change.modified, str(folder / name)) for name in edit}
        raise KeyboardInterrupt

    monkeypatch.setattr(watchfiles, "watch", watch)
    return watched


def summaries(out: str) -> list[str]:
    return [line.partition(" in ")[0] for line in out.splitlines() if line[:1].isdigit()]


def test_a_saved_helper_checks_again_what_imports_it(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = edited(monkeypatch, project, {"left_helper.py": "factor = 2\n"})
    code, out, err = run("check", ".", "--watch", "--color", "never")
    first, second = out.split("gradtool ", 2)[1:]
    assert "Right[inferred]" in first
    assert "2 Functions, 2 cases" in first
    assert "Right[inferred]" not in second
    assert "1 Function, 1 case" in second
    assert "GT101" in second
    assert "changed: left_helper.py\n" in err
    assert (code, watched) == (130, [project.resolve()])


def test_failures_of_earlier_runs_are_named_until_they_pass(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(
        monkeypatch,
        project,
        {"left_helper.py": "factor = 2\n"},
        {"right_helper.py": "factor = 3.0\n"},
        {"left_helper.py": "factor = 3\n"},
    )
    waits = run("check", ".", "--watch")[2].split("waiting for changes; press Ctrl-C to stop\n")
    named = "still failing: left.py::Left[inferred]\n"
    assert [named in said for said in waits[:4]] == [False, False, True, False]


def test_a_configuration_that_breaks_stops_one_run_and_its_repair_makes_up_for_it(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(
        monkeypatch,
        project,
        {"gradtool.yaml": "version: 1\nchek: {}\n", "left_helper.py": "factor = 2\n"},
        {"gradtool.yaml": "version: 1\n"},
    )
    code, out, err = run("check", ".", "--watch")
    assert "error: gradtool.yaml:2: unknown key 'chek'" in err
    assert out.count("2 Functions, 2 cases") == 2
    assert "1 passed, 1 failed" in out
    assert code == 130


def test_a_file_saved_during_the_first_run_is_checked_again(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "left_helper.py").write_text(
        "from pathlib import Path\n\nPath(__file__).write_text('factor = 3\\n')\nfactor = 3\n"
    )
    seen = watchfiles.watch

    def watch(*folders: Path, **settings: Any) -> Iterator[set[tuple[watchfiles.Change, str]]]:
        for looks, found in enumerate(seen(*folders, **settings)):
            yield found
            if found or looks == 50:
                raise KeyboardInterrupt

    monkeypatch.setattr(watchfiles, "watch", watch)
    code, _, err = run("check", "left.py", "--watch")
    assert (code, err.count("changed: left_helper.py")) == (130, 1)


def test_a_file_that_no_module_depends_on_starts_no_run(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "other").mkdir()
    edited(monkeypatch, project, {"other/unused.py": "x = 1\n"})
    out = run("check", "left.py", "right.py", "--watch")[1]
    assert out.count("gradtool 0") == 1


@pytest.mark.parametrize(
    "option",
    [["--pdb"], ["--report", "json=x"], ["--collect-only"], ["--write-baseline"], ["--lf"]],
)
def test_options_for_a_single_run_are_refused(run: Run, project: Path, option: list[str]) -> None:
    code, _, err = run("check", ".", "--watch", *option)
    assert (code, err) == (2, f"error: {option[0]} cannot be combined with --watch\n")


def test_without_the_library_it_is_named(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    code, _, err = run("check", ".", "--watch")
    assert (code, err) == (2, "error: --watch needs watchfiles: pip install 'gradtool[watch]'\n")

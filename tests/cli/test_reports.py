"""Where reports go: annotations on GitHub Actions, step summaries, and places that fail."""

import subprocess
import sys
from pathlib import Path

import pytest

import gradtool
from gradtool.report.formats import FORMATS
from tests.cli.test_check import Run, golden

_SOURCE = Path(gradtool.__file__).parents[1]


def test_on_github_actions_annotations_come_before_the_text(
    gate, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    _, out, _ = run("check", "ops", "-q")
    commands = golden("github.txt").splitlines(keepends=True)[:-1]
    assert out == "".join(commands) + golden("text-quiet.txt")


@pytest.mark.parametrize("form", ["text", "concise"])
def test_a_format_that_was_asked_for_is_all_that_is_printed(
    gate, run: Run, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "::error" not in run("check", "ops", "--format", form)[1]


def test_annotations_can_be_asked_for_anywhere(gate, run: Run) -> None:
    assert run("check", "ops", "--format", "github")[1] == golden("github.txt")


def test_a_step_summary_is_added_to_and_other_files_are_replaced(
    gate, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("summary.md").write_text("before\n")
    Path("other.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    run("check", "ops", "--report", "markdown=summary.md", "--report", "markdown=other.md")
    assert Path("summary.md").read_text() == "before\n" + golden("markdown.md")
    assert Path("other.md").read_text() == golden("markdown.md")


def test_one_place_that_fails_late_keeps_nothing_else_from_being_written(gate, run: Run) -> None:
    folder = Path("gone")
    folder.mkdir()

    def remove() -> None:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()

    gate.during = remove
    code, out, err = run("check", "ops", "--report", "json=gone/a.json", "--report", "junit=b.xml")
    assert code == 2
    assert err.splitlines()[-1].startswith("error: --report: cannot write gone/a.json")
    assert Path("b.xml").read_text() == golden("junit.xml")
    assert "\n6 Functions, 7 cases" in out


@pytest.mark.parametrize("again", ["./rep/x", "rep//x", "link/x"])
def test_one_place_by_two_names_is_still_one(gate, run: Run, again: str) -> None:
    Path("rep").mkdir()
    Path("link").symlink_to("rep")
    code, _, err = run("check", "ops", "--report", "json=rep/x", "--report", f"sarif={again}")
    assert code == 2
    assert err == "error: --report: two reports for rep/x; give each its own file\n"
    assert list(Path("rep").iterdir()) == []


def test_a_file_may_be_called_as_standard_output_is(gate, run: Run) -> None:
    code, out, _ = run("check", "ops", "--report", "json=-", "--report", "junit=./-")
    assert code == 1
    assert out == golden("report.json")
    assert Path("-").read_text() == golden("junit.xml")


def test_a_link_that_leads_to_itself_is_refused_and_stays(gate, run: Run) -> None:
    Path("l.json").symlink_to("l.json")
    code, out, err = run("check", "ops", "--report", "json=l.json")
    assert (code, out) == (2, "")
    assert err == "error: --report: cannot write l.json: Too many levels of symbolic links\n"
    assert [path.name for path in Path().iterdir()] == ["l.json"]


def test_every_format_can_be_written_in_one_run(gate, run: Run) -> None:
    run("check", "ops", *(f"--report={form}={form}.out" for form in FORMATS))
    assert all(Path(f"{form}.out").stat().st_size > 500 for form in FORMATS)
    assert not list(Path().glob(".*partial"))


def test_a_renderer_is_imported_for_its_own_format_only() -> None:
    program = (
        "import sys; from gradtool.report.formats import FORMATS, renderer;"
        "renderer('junit');"
        "print(*(name for name in sys.modules if name.startswith('gradtool.report.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=_SOURCE, check=True
    )
    loaded = done.stdout.split()
    assert "gradtool.report.formats.junit" in loaded
    assert not {"html", "sarif", "markdown", "terminal"} & {name.split(".")[2] for name in loaded}

"""What a project takes the gate up with: a baseline, what failed last, what is required."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.user_modules import GOOD, WRONG

Run = Callable[..., tuple[int, str, str]]
MENDED = WRONG.replace("g * x * x", "3 * g * x * x")


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)


def check(run: Run, *arguments: str) -> tuple[int, str, str]:
    """Check for the rules that these tests are about."""
    return run("check", "--no-isolation", "--select", "GT101,GT201,GT511", *arguments)


def git(*arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


def test_a_baseline_is_written_grows_when_asked_and_shrinks_by_itself(run: Run) -> None:
    write(ops=WRONG)
    assert check(run, "ops.py", "--baseline", "known.json")[0] == 2
    code, out, _ = check(run, "ops.py", "--baseline", "known.json", "--write-baseline")
    assert code == 0
    assert "known.json: 1 entry added, 0 removed" in out
    first = Path("known.json").read_bytes()
    write(more=WRONG)
    code, out, _ = check(run, ".", "--baseline", "known.json")
    assert code == 1
    assert Path("known.json").read_bytes() == first
    assert "more.py:" in out
    assert "ops.py:" not in out
    assert check(run, ".", "--baseline", "known.json", "--write-baseline")[0] == 0
    write(ops=MENDED)
    code, out, _ = check(run, ".", "--baseline", "known.json")
    assert code == 0
    assert "known.json: 1 entry no longer found, so it was removed" in out
    assert [entry["node"] for entry in json.loads(Path("known.json").read_text())["findings"]] == [
        "more.py::Cube[inferred]"
    ]


def test_a_file_may_have_the_separator_of_node_ids_in_its_name(run: Run) -> None:
    write(**{"odd::ops": WRONG, "fine": GOOD})
    assert check(run, ".", "--write-baseline")[0] == 0
    write(**{"odd::ops": MENDED})
    code, out, _ = check(run, "odd::ops.py", "--baseline", "gradtool-baseline.json")
    assert code == 0
    assert "1 entry no longer found, so it was removed" in out
    write(**{"odd::ops": WRONG})
    assert check(run, ".")[0] == 1
    code, out, _ = check(run, ".", "--lf")
    assert code == 1
    assert "1 Function, 1 case" in out


def test_a_baseline_is_not_changed_in_ci(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(ops=WRONG)
    check(run, "ops.py", "--write-baseline")
    before = Path("gradtool-baseline.json").read_bytes()
    write(ops=MENDED)
    monkeypatch.setenv("CI", "true")
    code, out, _ = check(run, "ops.py", "--baseline", "gradtool-baseline.json")
    assert code == 0
    assert "1 entry no longer found; a run outside CI will remove it" in out
    assert Path("gradtool-baseline.json").read_bytes() == before


def test_a_baseline_that_cannot_be_written_stops_the_run_before_it(run: Run) -> None:
    write(ops=WRONG)
    code, out, err = check(run, "ops.py", "--baseline", "no/known.json", "--write-baseline")
    assert (code, out) == (2, "")
    assert err == "error: baseline no/known.json cannot be written: No such file or directory\n"


def test_last_failed_asks_only_what_failed(run: Run) -> None:
    write(ops=WRONG, fine=GOOD)
    assert check(run, ".")[0] == 1
    folder = Path(".gradtool_cache")
    assert {path.name for path in folder.iterdir()} == {
        "CACHEDIR.TAG",
        "README.md",
        ".gitignore",
        "last.json",
        "findings.json",
    }
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886")
    code, out, _ = check(run, ".", "--lf")
    assert code == 1
    assert "1 Function, 1 case" in out
    assert "\n  Functions that did not fail in the last run\n" in out
    write(ops=MENDED)
    assert check(run, ".", "--lf")[0] == 0
    code, out, _ = check(run, ".", "--lf")
    assert code == 0
    assert "--lf: the last run recorded no failures, so everything is checked" in out
    assert "3 Functions, 3 cases" in out


def traced(source: str) -> str:
    """The module, whose Functions leave their names in a file when they are called."""
    told = r"        with open('trace', 'a') as file:\n            file.write('\2 ')\n"
    return re.sub(r"(class (\w+).*?def forward\(.*?\):\n)", rf"\1{told}", source, flags=re.S)


def begun() -> list[str]:
    """The Functions that were called, in the order in which they were first."""
    names = Path("trace").read_text().split()
    Path("trace").unlink()
    return list(dict.fromkeys(names))


def without_times(path: str) -> str:
    return re.sub(r'"seconds": .*', "", Path(path).read_text().partition('"modules"')[2])


@pytest.mark.parametrize("where", [("--no-isolation",), ("-j", "1")])
def test_failed_first_moves_the_start_and_nothing_else(run: Run, where: tuple[str, ...]) -> None:
    write(a=traced(GOOD), b=traced(WRONG))
    asked = ("check", ".", "--select", "GT101", *where)
    assert run(*asked, "--report", "json=before.json")[0] == 1
    assert begun() == ["Square", "Product", "Cube"]
    assert run(*asked, "--ff", "--report", "json=after.json")[0] == 1
    assert begun() == ["Cube", "Square", "Product"]
    assert without_times("before.json") == without_times("after.json")
    code, out, _ = run(*asked, "--failed-first", "--lf")
    assert (code, begun()) == (1, ["Cube"])
    assert "1 Function, 1 case" in out


def test_failed_first_of_a_module_begins_with_all_of_it(run: Run) -> None:
    write(a=traced(GOOD), b=f"{WRONG}\n)\n")
    assert check(run, ".")[0] == 4
    write(b=traced(WRONG))
    begun()
    check(run, ".", "--ff")
    assert begun() == ["Cube", "Square", "Product"]


def test_without_a_path_last_failed_looks_in_the_current_folder(run: Run) -> None:
    write(ops=WRONG, fine=GOOD)
    assert check(run, ".")[0] == 1
    code, out, _ = check(run, "--lf")
    assert code == 1
    assert "ops.py" in out
    assert "fine.py" not in out


@pytest.mark.parametrize("flag", ["--lf", "--ff"])
def test_what_failed_last_is_not_known_without_the_cache(run: Run, flag: str) -> None:
    write(ops=WRONG)
    code, out, err = check(run, ".", flag, "--no-cache")
    assert (code, out) == (2, "")
    assert err == f"error: {flag} needs the cache: omit --no-cache\n"


def test_where_nothing_failed_failed_first_is_as_always(run: Run) -> None:
    write(fine=GOOD)
    code, out, _ = check(run, ".", "--ff")
    assert code == 0
    assert "\n2 Functions, 2 cases" in out
    assert not Path(".gradtool_cache").exists()


def test_a_function_that_failed_under_another_name_is_still_found(run: Run) -> None:
    write(ops=WRONG)
    check(run, ".")
    write(ops=WRONG.replace("Cube", "Third"))
    code, out, _ = check(run, ".", "--lf")
    assert code == 1
    assert "Third[inferred]" in out
    check(run, ".")
    assert json.loads(Path(".gradtool_cache/last.json").read_text())["failed"] == ["ops.py::Third"]


def test_a_run_without_failures_leaves_no_cache_behind(run: Run) -> None:
    write(fine=GOOD)
    check(run, ".")
    write(ops=WRONG)
    check(run, ".", "--no-cache")
    assert not Path(".gradtool_cache").exists()


@pytest.mark.parametrize("content", ["", "{", '{"version": 2, "failed": []}', '{"failed": 3}'])
def test_a_corrupt_cache_is_a_warning_and_everything_is_run(run: Run, content: str) -> None:
    write(ops=WRONG, fine=GOOD)
    check(run, ".")
    Path(".gradtool_cache/last.json").write_text(content)
    code, out, _ = check(run, ".", "--lf")
    assert code == 1
    assert "warning: .gradtool_cache/last.json cannot be used and will be recreated: " in out
    assert "3 Functions, 3 cases" in out
    assert "1 Function, 1 case" in check(run, ".", "--lf")[1]


def test_a_cache_that_cannot_be_written_is_a_warning(run: Run) -> None:
    write(ops=WRONG)
    Path(".gradtool_cache").write_text("a file of somebody's")
    code, out, _ = check(run, ".")
    assert code == 1
    assert "warning: .gradtool_cache" in out
    assert Path(".gradtool_cache").read_text() == "a file of somebody's"


def test_a_change_affects_what_imports_it_by_a_computed_name(run: Run) -> None:
    names = "import importlib, sys\nsys.path.append('lib')\n"
    names += "importlib.import_module('help' + 'er')\n"
    Path("lib").mkdir()
    Path("lib/helper.py").write_text("FACTOR = 2\n")
    write(ops=names + WRONG)
    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    # In a worker: the imports of this module would stay in the process of the tests.
    changed = ("check", "--select", "GT101", ".", "--changed-since", "HEAD", "--no-cache")
    assert run(*changed)[0] == 0
    Path("lib/helper.py").write_text("FACTOR = 3\n")
    assert run(*changed)[0] == 1


def test_where_nothing_changed_nothing_is_checked_and_all_is_well(run: Run) -> None:
    write(ops=WRONG)
    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    code, out, _ = check(run, ".", "--changed-since", "HEAD", "--no-cache")
    assert code == 0
    assert "nothing to check: no module changed since HEAD" in out
    assert out.endswith("\n  1 module unchanged since HEAD\n")
    assert check(run, ".", "--changed-since", "HEAD", "--collect-only")[0] == 0
    write(ops=WRONG + "\n# changed\n")
    assert check(run, ".", "--changed-since", "HEAD", "--no-cache")[0] == 1


@pytest.mark.parametrize("ref", ["no-such", "--all", "", "HEAD:ops.py", "@{", "HEAD..HEAD"])
def test_a_reference_that_git_does_not_know_is_refused(run: Run, ref: str) -> None:
    write(ops=GOOD)
    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    code, out, err = check(run, ".", f"--changed-since={ref}")
    assert (code, out) == (2, "")
    assert err.startswith("error: --changed-since: ")
    assert err.count("\n") == 1


def test_outside_a_repository_changes_are_unknown(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(ops=GOOD)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    code, _, err = check(run, ".", "--changed-since", "HEAD")
    assert (code, err) == (2, f"error: --changed-since: {tmp_path} is not in a git repository\n")


def test_files_without_functions_pass_only_where_that_is_allowed(run: Run) -> None:
    write(setup="raise SystemExit('a script')")
    assert check(run, "setup.py")[0] == 4
    code, out, _ = check(run, "setup.py", "--allow-empty")
    assert code == 0
    assert "\nnothing was checked: " in out
    write(ops=WRONG)
    assert check(run, "setup.py", "ops.py", "--allow-empty", "--no-cache")[0] == 1
    write(ops=WRONG.replace("def forward(ctx, x)", "def forward(ctx)"))
    assert check(run, "ops.py", "--allow-empty", "--no-cache")[0] == 1


def test_fewer_functions_than_required_fail(run: Run) -> None:
    write(fine=GOOD)
    assert check(run, ".", "--require-functions", "2")[0] == 0
    code, out, _ = check(run, ".", "--require-functions", "3")
    assert code == 1
    assert "--require-functions 3: only 2 Functions had a gradient compared\n" in out
    for part in (("-k", "Square"), ("--shard", "1/2"), ("--lf",), ("--changed-since", "HEAD")):
        code, _, err = check(run, ".", "--require-functions", "1", *part)
        assert code == 2
        assert f"omit {part[0]}" in err


def test_what_shards_checked_together_is_held_to_the_number(run: Run) -> None:
    write(fine=GOOD)
    for number in (1, 2):
        check(run, ".", "--shard", f"{number}/2", "--report", f"json={number}.json")
    assert run("merge", "1.json", "2.json", "--require-functions", "2")[0] == 0
    code, out, _ = run("merge", "1.json", "2.json", "--require-functions", "3")
    assert code == 1
    assert "--require-functions 3: only 2 Functions had a gradient compared" in out


def test_double_backward_can_be_required(run: Run) -> None:
    once = GOOD.replace("    @staticmethod\n    def backward(ctx, g):\n        (x,)", ONCE, 1)
    write(fine=once)
    assert check(run, ".")[0] == 0
    code, out, _ = check(run, ".", "--require-double-backward")
    assert code == 1
    assert ("--require-double-backward: double backward does not pass: fine.py::Square\n") in out
    comment = "  # gradtool: ignore[GT201] an optimizer's step is never differentiated"
    write(fine=once.replace("class Square(Function):", f"class Square(Function):{comment}"))
    assert check(run, ".", "--require-double-backward")[0] == 0
    write(fine=once)
    Path("gradtool.yaml").write_text(
        "version: 1\nfunctions: {Square: {ignore: {GT2: first order only}}}\n"
    )
    assert check(run, ".", "--require-double-backward", "--strict")[0] == 0


ONCE = """\
    @staticmethod
    @__import__("gradtool").once_differentiable
    def backward(ctx, g):
        (x,)"""

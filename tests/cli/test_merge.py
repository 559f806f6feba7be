"""``--shard`` and ``gradtool merge``: the parts together are the whole, or it is said why not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gradtool.results.report import Report
from tests.user_modules import NOT_LOADED

Run = Callable[..., tuple[int, str, str]]

FUNCTION = """
class {name}(Function):
    @staticmethod
    def forward(ctx, x):
        return {factor} * x

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output

"""


def module(*factors: int) -> str:
    names = [f"F{place}" for place in range(len(factors))]
    functions = [FUNCTION.format(name=n, factor=f) for n, f in zip(names, factors, strict=True)]
    return "from gradtool import Function\n" + "".join(functions)


@pytest.fixture
def files(empty_folder: Path) -> None:
    (empty_folder / "b.py").write_text(module(2, 2, 3, 2))
    (empty_folder / "a.py").write_text(module(2))
    (empty_folder / "broken.py").write_text(NOT_LOADED)


def read(name: str) -> Report:
    return msgspec.json.decode(Path(name).read_bytes(), type=Report)


def timeless(report: Report) -> Any:
    """A report without clock, command and exit code."""
    plain = msgspec.to_builtins(report)
    for key in ("seconds", "command", "shard", "exit_code", "interrupted"):
        plain.pop(key, None)
    for one in plain["modules"]:
        for function in one.get("functions", ()):
            for case in function.get("cases", ()):
                case.pop("seconds", None)
    return plain


def check(run: Run, *arguments: str) -> int:
    return run("check", "b.py", "a.py", "broken.py", "--no-isolation", *arguments)[0]


def test_the_shards_together_are_the_whole(run: Run, files: None) -> None:
    assert check(run, "--report", "json=whole.json") == 1
    names = [f"{number}.json" for number in (1, 2, 3)]
    for number, name in enumerate(names, 1):
        assert check(run, "--shard", f"{number}/3", "--report", f"json={name}") in (0, 1, 4)
    parts = [{(m.path, f.name) for m, f in read(name).functions()} for name in names]
    assert sum(map(len, parts)) == 5
    code, out, _ = run("merge", *reversed(names), "--report", "json=united.json")
    assert code == 1
    assert "5 Functions" in out
    assert timeless(read("united.json")) == timeless(read("whole.json"))


def test_shards_that_lack_a_result_are_refused(run: Run, files: None) -> None:
    for number in (1, 2):
        check(run, "--shard", f"{number}/2", "--report", f"json={number}.json")
    place = next(name for name in ("1.json", "2.json") if read(name).modules)
    report = json.loads(Path(place).read_text())
    gone = report["modules"].pop(0)
    Path(place).write_text(json.dumps(report))
    code, _, err = run("merge", "1.json", "2.json")
    assert code == 2
    assert err.startswith(f"error: no shard has a result for {gone['path']}")


def test_shards_of_a_file_that_changed_between_them_are_refused(run: Run, files: None) -> None:
    check(run, "--shard", "1/2", "--report", "json=1.json")
    Path("b.py").write_text(module(2, 2, 3, 2) + "# changed")
    check(run, "--shard", "2/2", "--report", "json=2.json")
    code, _, err = run("merge", "1.json", "2.json")
    assert code == 2
    assert "b.py is not the same file in all reports" in err


def test_what_no_keyword_matches_is_not_missing(run: Run, files: None) -> None:
    for number in (1, 2):
        check(run, "--shard", f"{number}/2", "-k", "F0", "--report", f"json={number}.json")
    assert run("merge", "1.json", "2.json")[0] in (0, 1, 4)


def test_a_shard_with_nothing_to_do_has_not_failed(run: Run, empty_folder: Path) -> None:
    (empty_folder / "a.py").write_text(module(2))
    codes = [run("check", "a.py", "--no-isolation", "--shard", f"{n}/9")[0] for n in range(1, 10)]
    assert codes == [0] * 9


def test_reports_over_different_files_can_be_united(run: Run, files: None) -> None:
    run("check", "a.py", "--no-isolation", "--report", "json=a.json")
    run("check", "b.py", "--no-isolation", "--report", "json=b.json")
    code, _, _ = run("merge", "a.json", "b.json", "--report", "json=c.json")
    assert code == 1
    assert [one.path for one in read("c.json").modules] == ["a.py", "b.py"]


def test_what_cannot_be_united_is_one_line(run: Run, files: None) -> None:
    for name, arguments in {
        "1": ("b.py", "--shard", "1/3"),
        "2": ("b.py", "--shard", "2/3"),
        "a": ("a.py",),
        "again": ("a.py",),
        "seeded": ("b.py", "--seed", "5"),
    }.items():
        run("check", *arguments, "--no-isolation", "--report", f"json={name}.json")
    Path("text.json").write_text("no report")
    Path("list.json").write_text("[1, 2]")
    Path("old.json").write_text('{"schema": 0}')
    Path("half.json").write_bytes(Path("a.json").read_bytes()[:300])
    for arguments, message in {
        ("1.json", "2.json"): "missing shard: 3/3",
        ("1.json", "1.json"): "shard 1/3 appears twice",
        ("1.json", "a.json"): "a.json covers a complete run, but the others cover shards",
        ("a.json", "again.json"): "a.py::F0 is in both a.json and again.json",
        ("a.json", "seeded.json"): "a.json and seeded.json come from different runs: seed 0 and 5",
        ("gone.json",): "gone.json cannot be read: No such file or directory",
        ("text.json",): "text.json is not a gradtool JSON report",
        ("list.json",): "list.json is not a gradtool JSON report",
        ("half.json",): "half.json is not a gradtool JSON report",
        ("old.json",): "old.json has schema 0: this gradtool reads schema 1",
    }.items():
        code, out, err = run("merge", *arguments, "--report", "json=out.json")
        assert (code, out) == (2, ""), err
        assert message in err
        assert len(err.splitlines()) == 1
        assert not Path("out.json").exists()


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"])
def test_a_shard_that_cannot_be_is_refused(run: Run, files: None, text: str) -> None:
    code, _, err = run("check", "a.py", f"--shard={text}")
    assert code == 2
    assert "--shard" in err

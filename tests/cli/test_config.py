"""``gradtool config``: which file holds, and where each value comes from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

FILE = """\
version: 1
check: {timeout: 5, exclude: [wrong, old]}
functions:
  Square: {ignore: {GT505: "a table"}, cases: [{args: [1]}]}
"""


def told(out: str) -> dict[str, tuple[str, ...]]:
    split = (line.split("  ") for line in out.splitlines()[1:])
    rows = [tuple(word.strip() for word in line if word.strip()) for line in split]
    return {row[0]: row[1:] for row in rows}


def test_each_value_is_told_with_its_origin(run: Run) -> None:
    Path("src").mkdir()
    Path("gradtool.yaml").write_text(FILE)
    code, out, err = run("config", "src")
    assert (code, err) == (0, "")
    assert out.startswith("configuration for src: gradtool.yaml\n")
    rows = told(out)
    assert rows["timeout"] == ("5", "gradtool.yaml")
    assert rows["exclude"] == ("wrong, old", "gradtool.yaml")
    assert rows["memory_limit"] == ("4GiB", "default")
    assert rows["strict"] == ("false", "default")
    assert rows["atol"] == ("-", "default")
    assert rows["Square"] == ("1 case, GT505 ignored", "gradtool.yaml")


def test_entries_of_other_files_are_left_out_for_a_file(run: Run) -> None:
    Path("a.py").write_text("")
    keys = ("a.py::Square", "b.py::Cube", "Anywhere")
    entries = "".join(f"  '{key}': {{cases: [{{args: [1]}}]}}\n" for key in keys)
    Path("gradtool.yaml").write_text(f"version: 1\nfunctions:\n{entries}")
    rows = told(run("config", "a.py")[1])
    assert {"a.py::Square", "Anywhere"} <= rows.keys()
    assert "b.py::Cube" not in rows
    assert "b.py::Cube" in told(run("config", ".")[1])


def test_without_a_file_the_defaults_hold(run: Run) -> None:
    code, out, _ = run("config")
    assert code == 0
    assert out.startswith("configuration for .: no gradtool.yaml\n")
    assert {row[-1] for row in told(out).values()} == {"default"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope"], "nope does not exist"),
        ([""], "'' does not exist"),
        ([".", "--config", "no.yaml"], "no.yaml cannot be read: No such file or directory"),
    ],
)
def test_what_is_not_there_is_refused(run: Run, arguments: list[str], message: str) -> None:
    assert run("config", *arguments) == (2, "", f"error: {message}\n")


def test_what_options_give_is_told_with_the_option(run: Run) -> None:
    Path("gradtool.yaml").write_text(FILE)
    given = ("check.timeout=7", "functions.Square.atol=1", "functions.New.rtol=2")
    code, out, err = run("config", *(f"--config={pair}" for pair in given))
    assert (code, err) == (0, "")
    rows = told(out)
    assert rows["timeout"] == ("7", "--config check.timeout=7")
    assert rows["exclude"] == ("wrong, old", "gradtool.yaml")
    own = "gradtool.yaml, --config functions.Square.atol=1"
    assert rows["Square"] == ("1 case, GT505 ignored", own)
    assert rows["New"] == ("0 cases", "--config functions.New.rtol=2")


def test_isolated_from_files_the_defaults_hold(run: Run) -> None:
    Path("gradtool.yaml").write_text("nonsense")
    code, out, _ = run("config", "--isolated", "--config", "check.seed=3")
    assert code == 0
    assert out.startswith("configuration for .: no file (--isolated)\n")
    rows = told(out)
    assert rows.pop("seed") == ("3", "--config check.seed=3")
    assert {row[-1] for row in rows.values()} == {"default"}


def test_the_environment_is_told_as_an_origin_and_options_override_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("gradtool.yaml").write_text(FILE)
    monkeypatch.setenv("GRADTOOL_TIMEOUT", "90")
    monkeypatch.setenv("GRADTOOL_SEED", "5")
    code, out, _ = run("config", "--config", "check.seed=6")
    assert code == 0
    assert told(out)["timeout"] == ("90", "GRADTOOL_TIMEOUT=90")
    assert told(out)["seed"] == ("6", "--config check.seed=6")
    monkeypatch.setenv("GRADTOOL_TIMEOUT", "soon")
    message = "GRADTOOL_TIMEOUT=soon: check.timeout must be a number above 0, got 'soon'"
    assert run("config") == (2, "", f"error: {message}\n")

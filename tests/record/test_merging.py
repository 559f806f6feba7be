"""Cases are added to a configuration whose other lines stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.config.files import load_config
from gradtool.config.schema import CaseConfig
from gradtool.errors import UsageError
from gradtool.record.merging import Addition, key_of, merged

CASE = CaseConfig(args=({"shape": [3, 4]}, "take"))
OTHER = CaseConfig(args=({"shape": [5]}, None))


def added(text: str | None, key: str = "F", *cases: CaseConfig) -> tuple[str, int]:
    return merged(text, "gradtool.yaml", [Addition(key, cases or (CASE,))])


def cases_of(tmp_path: Path, text: str, key: str = "F") -> list[tuple[object, ...]]:
    path = tmp_path / "gradtool.yaml"
    path.write_text(text, encoding="utf-8")
    return [case.args for case in load_config(path).functions[key].cases]


FILES = {
    "no file": None,
    "no functions": "version: 1\n",
    "no line end": "version: 1",
    "empty functions": "version: 1\nfunctions: {}  # none yet\ncheck: {seed: 1}\n",
    "null functions": "version: 1\nfunctions:\n",
    "other Function": "version: 1\nfunctions:\n  G:\n    atol: 1.0\n\n# the end\n",
    "other section after": "version: 1\nfunctions:\n    G:\n        atol: 1\n\ncheck: {seed: 1}\n",
    "without cases": "version: 1\nfunctions:\n  F:\n    ignore: {GT505: a table}  # why\n  G: {}\n",
}


@pytest.mark.parametrize("name", FILES)
def test_the_first_cases_of_a_function(tmp_path, name):
    text, count = added(FILES[name], "F", CASE, OTHER)
    assert count == 2
    assert cases_of(tmp_path, text) == [CASE.args, OTHER.args]
    for line in (FILES[name] or "").splitlines():
        assert line.replace(" {}", "").rstrip() in text


@pytest.mark.parametrize("indent", ["", "  "])
def test_further_cases_follow_those_there(tmp_path, indent):
    before = (
        "# settings\nversion: 1\nfunctions:\n  F:\n    cases:\n"
        f"    {indent}- name: mine   # by hand\n    {indent}  args: [{{shape: [2]}}, 1]\n"
        "    # no more\n\n  G:\n    atol: 0.5\n"
    )
    text, count = added(before)
    assert count == 1
    assert cases_of(tmp_path, text) == [({"shape": [2]}, 1), CASE.args]
    assert [line for line in text.splitlines() if line in before.splitlines()] == (
        before.splitlines()
    )


def test_the_same_cases_are_added_once():
    text, _ = added(None)
    again = CaseConfig(args=({"shape": [3, 4], "low": 0.5, "high": 2.0}, "take"))
    assert added(text, "F", again) == (text, 0)


def test_names_are_not_given_twice(tmp_path):
    text, _ = added(None)
    text, _ = added(text, "F", OTHER)
    path = tmp_path / "gradtool.yaml"
    path.write_text(text)
    assert [case.name for case in load_config(path).functions["F"].cases] == [
        "recorded1",
        "recorded2",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nfunctions: {F: {atol: 1.0}}\n",
        "version: 1\nfunctions:\n  F: {atol: 1.0}\n",
        "version: 1\nfunctions:\n  F:\n    cases: [{args: [1]}]\n",
        "{version: 1}\n",
    ],
)
def test_what_is_written_in_brackets_is_refused(text):
    with pytest.raises(UsageError, match=r"on lines of its own|without brackets|line"):
        added(text)


def test_an_invalid_file_is_refused():
    with pytest.raises(UsageError):
        added("version: 1\nfunction: {}\n")


def test_the_key_that_the_file_has_is_kept():
    folder = Path("/p")
    assert key_of(("F",), folder, folder / "src/a.py", "F") == "F"
    assert key_of(("F", "src/a.py::F"), folder, folder / "src/a.py", "F") == "src/a.py::F"
    assert key_of((), folder, folder / "src/a.py", "F") == "src/a.py::F"

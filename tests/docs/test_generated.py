"""Pages that a script writes are as the script would write them now."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.docs import write_configuration, write_rules, write_verdicts


@pytest.mark.parametrize(
    "script", [write_configuration, write_rules, write_verdicts], ids=lambda s: s.PAGE.name
)
def test_the_page_is_what_its_script_writes(script: ModuleType) -> None:
    command = f"python tests/docs/{script.__name__.rpartition('.')[2]}.py"
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), f"run {command}"


def test_the_figure_is_what_its_script_draws() -> None:
    drawn = write_verdicts.FIGURE.read_text(encoding="utf-8")
    assert drawn == write_verdicts.figure(), "run python tests/docs/write_verdicts.py"


def test_every_key_of_the_configuration_has_a_meaning() -> None:
    for line in write_configuration.page().splitlines():
        if line.startswith("| `"):
            assert line.split(" | ")[-1].strip(" |"), line


def test_the_contents_name_every_rule_once() -> None:
    index = write_rules.page().split("\n# ")[0]
    assert index.count("| [GT") == len(write_rules.RULES)

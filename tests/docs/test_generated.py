"""Pages that a script writes are as the script would write them now."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.docs import write_cli, write_configuration, write_rules, write_verdicts
from tests.docs.settled import settled
from tests.docs.take_pictures import PICTURES, Picture, drawn, printed, shown

SCRIPTS = [write_cli, write_configuration, write_rules, write_verdicts]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.PAGE.name)
def test_the_pages_are_what_their_script_writes(script: ModuleType) -> None:
    command = f"python tests/docs/{script.__name__.rpartition('.')[2]}.py"
    for path, text in script.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run {command}"


def test_no_page_is_left_of_a_rule_that_is_gone() -> None:
    assert set(write_rules.FOLDER.iterdir()) == set(write_rules.pages()) - {write_rules.PAGE}


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_shows_what_its_command_prints(picture: Picture) -> None:
    shows = shown(picture.path.read_text(encoding="utf-8"))
    prints = shown(drawn(picture, printed(picture)))
    told = "run python tests/docs/take_pictures.py"
    assert settled(shows).split() == settled(prints).split(), told


def test_every_key_of_the_configuration_has_a_meaning() -> None:
    for line in write_configuration.page().splitlines():
        if line.startswith("| `"):
            assert line.split(" | ")[-1].strip(" |"), line


def test_the_overview_names_every_rule_once() -> None:
    overview = write_rules.pages()[write_rules.PAGE]
    assert overview.count("| [GT") == len(write_rules.RULES)

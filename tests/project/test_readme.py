"""README.md begins with the commands that CI takes from it. `tests/docs` runs its other blocks."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gradtool.cli.exit_codes import ExitCode

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def block(marker: str) -> str:
    found = re.search(rf"^<!-- {marker} -->\n```\w+\n(.*?)^```$", README, re.M | re.S)
    assert found, f"README.md marks no block as {marker}"
    return found[1]


@pytest.mark.parametrize("name", ["check", "test"])
def test_a_command_is_one_line_that_makes_its_own_environment(name: str) -> None:
    command = block(f"command: {name}")
    assert command.count("\n") == 1
    assert command.startswith("python3 -m venv ")


def test_the_two_commands_come_before_anything_else() -> None:
    shells = re.findall(r"^```sh\n(.*?)^```$", README, re.M | re.S)
    assert shells[:2] == [block("command: check"), block("command: test")]
    assert README.index(shells[1]) < README.index("\n## ")


@pytest.mark.parametrize("name", ["check", "test"])
def test_ci_takes_the_command_from_here(name: str) -> None:
    assert re.search(rf"\breadme {name}\b", CI)
    script = [sys.executable, str(ROOT / ".ci" / "readme_command.py"), name]
    printed = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert printed == block(f"command: {name}")


def test_it_shows_what_a_mistake_looks_like_before_it_explains_anything() -> None:
    shown = README.index("](docs/pictures/finding.svg)")
    assert README.index(block("command: test")) < shown < README.index("\n## ")


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 200


def test_the_numbers_are_those_of_the_page_of_detection() -> None:
    page = (ROOT / "docs" / "detection.md").read_text(encoding="utf-8")
    families: Counter[tuple[str, int]] = Counter()
    for code, *counts in re.findall(
        r"^\| (GT\d)" + r".*?\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", page, re.M
    ):
        families.update({(code, column): int(count) for column, count in enumerate(counts)})
    table = README.split("## What it catches")[1].split("\n\n")[2]
    shown = [[int(cell) for cell in re.findall(r"\| (\d+)", row)] for row in table.splitlines()[2:]]
    codes = sorted({code for code, _ in families})
    assert shown == [[families[code, column] for column in range(4)] for code in codes]
    for text in (README, (ROOT / "docs" / "index.md").read_text(encoding="utf-8")):
        totals = re.search(r"\| all \|  \| (\d+) \| (\d+) \| \d+ \| (\d+) \|", page)
        assert totals is not None
        assert all(re.search(rf"\b{total}\b", text) for total in totals.groups())


def test_the_table_of_exit_codes_lists_the_codes_there_are() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    section = page.split("\n## Exit codes\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| (\d+) \|", section, re.M) == [str(int(code)) for code in ExitCode]

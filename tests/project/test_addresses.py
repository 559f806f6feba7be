"""The addresses of the repository agree: publishing it changes one constant and its copies."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from gradtool.package import INSTALL, REPOSITORY

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


def test_the_links_of_the_package_lead_into_the_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Homepage"] == REPOSITORY
    for address in project["urls"].values():
        assert address.startswith(REPOSITORY)
        inside = address.partition("/blob/main/")[2]
        assert not inside or (ROOT / inside).is_file(), address


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_pages_install_from_where_the_package_can_be_had(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"pip install gradtool\b", text)
    for line in re.findall(r"pip install git\+\S+", text):
        assert line.startswith(INSTALL)

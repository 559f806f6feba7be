"""The version is said once, and everything that repeats it agrees."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import gradtool

ROOT = Path(__file__).resolve().parents[2]


def packaged() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def test_the_package_knows_the_version_it_was_built_as() -> None:
    assert gradtool.__version__ == packaged()


def test_the_changelog_opens_with_what_is_unreleased() -> None:
    headings = re.findall(r"^## \[(.+?)\]", changelog(), re.M)
    assert headings[0] == "Unreleased"


def test_the_newest_release_of_the_changelog_is_not_ahead_of_the_package() -> None:
    releases = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", changelog(), re.M)
    assert all(numbers(release) <= numbers(packaged()) for release in releases)


def changelog() -> str:
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))

"""Links between the pages lead somewhere, and every page can be reached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs"
DOCS = sorted(FOLDER.rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]


def links(page: Path) -> list[str]:
    prose = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]+`", "", prose))
    return [link for link in found if "://" not in link]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_page_and_a_heading_of_it(page: Path) -> None:
    for link in links(page):
        name, _, heading = link.partition("#")
        target = page.parent / name if name else page
        assert target.is_file(), f"{page.name}: {link}"
        assert not heading or heading in headings(target), f"{page.name}: {link}"


def headings(page: Path) -> set[str]:
    """The headings of a page, as links spell them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_is_in_the_navigation_once() -> None:
    site = yaml.safe_load((FOLDER / "site" / "mkdocs.yml").read_text(encoding="utf-8"))
    # The hook of the site adds the rules, from the same list as the overview.
    overview = [
        f"rules/{Path(link).name}" for link in links(FOLDER / "rules.md") if "rules/" in link
    ]
    listed = [*leaves(site["nav"]), *overview]
    assert sorted(listed) == sorted(str(page.relative_to(FOLDER)) for page in DOCS)


def leaves(node: Any) -> Iterator[str]:
    """The pages of a navigation, at whatever depth."""
    if isinstance(node, str):
        yield node
    else:
        for child in node.values() if isinstance(node, dict) else node:
            yield from leaves(child)

"""Fits the pages into the site: rules in its navigation, links to the repository, file names."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

from gradtool.package import REPOSITORY  # noqa: E402 - of this repository, too
from tests.docs.write_rules import families  # noqa: E402

_OUTSIDE = re.compile(r"\]\((?:\.\./)+(?P<path>[\w./-]+)(?P<heading>#[\w-]+)?\)")
"""A link to a file of the repository that is no page of the site."""

_FILE = re.compile(r"(^<!-- file: (?P<name>[^ \n]+).* -->\n(?:<!-- .+ -->\n)*```\w+)$", re.M)
"""The head of a block that is the content of a file, which the comment above it names."""


# The engine computes its list of names, of which no page here shows any.
logging.getLogger("mkdocs.plugins.griffe").addFilter(
    lambda record: "gradtool.engine.__all__" not in record.getMessage()
)


def on_config(config: Any) -> Any:
    """Name the repository, and list the rules by family below their overview."""
    config.repo_url = REPOSITORY
    config.repo_name = "Repository"
    for entry in config.nav:
        if entry.get("Rules"):
            entry["Rules"] = [entry["Rules"], *_rules()]
    return config


def _rules() -> list[dict[str, Any]]:
    return [
        {title: [{rule.code: f"rules/{rule.code.lower()}.md"} for rule in rules]}
        for title, rules in families()
    ]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links that leave the docs to the repository, and show the names of files."""
    depth = page.file.src_uri.count("/")

    def address(found: re.Match[str]) -> str:
        if found[0].count("../") <= depth:
            return found[0]
        return f"]({REPOSITORY}/blob/main/{found['path']}{found['heading'] or ''})"

    named = _FILE.sub(r'\1 title="\g<name>"', markdown)
    return _OUTSIDE.sub(address, named)

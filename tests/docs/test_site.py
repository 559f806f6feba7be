"""The hooks of the site: the name of a file stands above the block that is its content."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

from tests.docs.blocks import blocks

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_each_block_that_is_a_file_shows_its_name() -> None:
    spec = importlib.util.spec_from_file_location("site_hooks", DOCS / "site" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="page.md"))
    for path in DOCS.glob("*.md"):
        shown = hooks.on_page_markdown(path.read_text(encoding="utf-8"), page)
        titles = re.findall(r'^```\w+ title="(.+)"$', shown, re.M)
        assert titles == [block.files[0] for block in blocks(path) if block.files], path.name

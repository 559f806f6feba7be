"""The page of a rule in HTML: headings, paragraphs and examples."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from textwrap import dedent

from gradtool.report.formats.sarif import as_text
from gradtool.report.html.elements import Child, element, with_code
from gradtool.results.report import RuleInfo

_BLOCK = re.compile(
    r"^(?P<heading>\S[^\n]*)\n-{3,}$|(?P<example>(?:^    [^\n]*\n(?:[ \t]*\n)*)+)"
    r"|(?P<text>(?:^[^\n]+\n)+?)(?=\n|    |\S[^\n]*\n---|\Z)",
    re.MULTILINE,
)
_LINK = re.compile(r"(https?://\S*[\w/#])")


def rule_page(rule: RuleInfo) -> Iterator[ET.Element]:
    """The blocks of the page, without the first paragraph if that is the summary."""
    for index, block in enumerate(_BLOCK.finditer(f"{as_text(rule.page)}\n")):
        if block["heading"]:
            yield element("h5", block["heading"])
        elif block["example"]:
            yield element("pre", dedent(block["example"]).rstrip())
        elif index or _flowing(block["text"]) != rule.summary:
            yield element("p", *_inline(block["text"]))


def _flowing(text: str) -> str:
    return " ".join(text.split())


def _inline(text: str) -> Iterator[Child]:
    """Text with its code and its links as such."""
    for index, part in enumerate(_LINK.split(_flowing(text))):
        if index % 2:
            yield element("a", part, href=part)
        else:
            yield from with_code(part)

"""The page of a rule, which is plain text in the manner of a docstring, as Markdown."""

from __future__ import annotations

import re

_HEADING = re.compile(r"^(\S[^\n]*)\n-{3,}$", re.MULTILINE)
_EXAMPLE = re.compile(r"(?:^    [^\n]*\n(?:[ \t]*\n)*)+", re.MULTILINE)


def as_markdown(page: str) -> str:
    """The page with its headings, indented examples and double backticks in Markdown."""
    text = _HEADING.sub(r"### \1", page.strip() + "\n")
    text = _EXAMPLE.sub(_fenced, text)
    return text.replace("``", "`").strip() + "\n"


def _fenced(example: re.Match[str]) -> str:
    lines = [line.removeprefix("    ") for line in example[0].rstrip().splitlines()]
    body = "\n".join(lines)
    return f"~~~python\n{body}\n~~~\n\n"

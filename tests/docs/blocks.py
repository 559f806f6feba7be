"""The fenced blocks of a page, and the marks that say what a test is to do with each.

A mark is a comment on a line of its own right above a block, invisible where the page is shown:

- ``<!-- file: NAME... -->``: the block is the content of these files, for blocks below it;
- ``<!-- exits: N -->``: the commands end with N and not with 0;
- ``<!-- output of: COMMAND -->``: this is what COMMAND prints; a line ``...`` stands for any lines;
- ``<!-- given: PAGE -->``: the files of that page are there;
- ``<!-- needs: torch -->``: PyTorch runs it, in a test of its own;
- ``<!-- command: NAME -->``: CI runs it by this name, in an environment of its own;
- ``<!-- not run: REASON -->``: no test can run it, and why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

MARKS = ("file", "exits", "output of", "given", "needs", "command", "not run")

_FENCE = re.compile(
    r"(?P<marks>(?:^ *<!-- .+? -->\n)*)^(?P<indent> *)```(?P<language>\w*)\n"
    r"(?P<text>.*?)^(?P=indent)```$",
    re.M | re.S,
)
_MARK = re.compile(r"<!-- ([a-z ]+): (.+?) -->")


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: Path
    line: int
    language: str
    text: str
    marks: dict[str, str]

    @property
    def place(self) -> str:
        """``page.md:12``, for messages."""
        return f"{self.page.name}:{self.line}"

    @property
    def files(self) -> list[str]:
        """Names of the files that it is the content of."""
        return self.marks.get("file", "").split()

    @property
    def commands(self) -> str:
        """Its commands: all of it, or what stands after the prompts of a session."""
        if self.language != "console":
            return self.text
        return "".join(f"{line}\n" for line in re.findall(r"^\$ (.+)$", self.text, re.M))


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page=page,
            line=text.count("\n", 0, found.start("language")) + 1,
            language=found["language"],
            text=re.sub(f"^{found['indent']}", "", found["text"], flags=re.M),
            marks=dict(_MARK.findall(found["marks"])),
        )
        for found in _FENCE.finditer(text)
    ]

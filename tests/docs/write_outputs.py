"""Renews the numbers in the outputs that pages show: ``python tests/docs/write_outputs.py PAGE``.

Lines that differ in more than numbers are left to a person: the test of the page shows them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.docs.blocks import Block, blocks
from tests.docs.settled import settled
from tests.docs.test_blocks import Place


def main() -> None:
    """Renew the pages that are named."""
    for page in map(Path, sys.argv[1:]):
        text = page.read_text(encoding="utf-8")
        with TemporaryDirectory() as folder:
            here = Place(Path(folder))
            for block in blocks(page):
                here.write_files_of(block)
                if "output of" in block.marks:
                    text = text.replace(block.text, renewed(block, here))
        page.write_text(text, encoding="utf-8")


def renewed(block: Block, here: Place) -> str:
    """The block with the numbers that its command prints now."""
    return with_numbers_of(here.output_of(block), block.text)


def with_numbers_of(printed: str, shown: str) -> str:
    """`shown`, with each line that differs only in numbers as it is in `printed`."""
    lines = printed.splitlines()
    same = set(map(settled, lines))
    now = {_numberless(line): line for line in lines if settled(line)}
    return "".join(
        line if settled(line) in same else f"{now.get(_numberless(line), line.rstrip())}\n"
        for line in shown.splitlines(keepends=True)
    )


def _numberless(line: str) -> str:
    return re.sub(r"\d[\d.]*(e-?\d+)?", "N", settled(line))


if __name__ == "__main__":
    main()

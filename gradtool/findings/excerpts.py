"""The user's lines around the place that a finding speaks of.

They are taken when the finding is made: a report may be rendered elsewhere and later, when
the file has changed or is out of reach.
"""

from __future__ import annotations

import linecache
import re

from gradtool.results.report import Location, Source

_BEFORE = 2
_AFTER = 2
_MOST_OF_A_BODY = 14
"""Lines of a function that are shown of it from its ``def`` on."""

_WIDEST = 160
"""Characters of a line."""

_DEFINITION = re.compile(r"\s*(?:async\s+)?(?:def|class)\s+(\w+)")


def excerpt(location: Location) -> Source | None:
    """The lines around `location`; of a ``def``, the function. None where they cannot be read."""
    linecache.checkcache(location.path)
    lines = [line.rstrip("\n") for line in linecache.getlines(location.path)]
    if location.line is None or not 0 < location.line <= len(lines):
        return None
    at = location.line - 1
    definition = _DEFINITION.match(lines[at])
    last = _end_of_body(lines, at) if definition else min(at + _AFTER, len(lines) - 1)
    while last > at and not lines[last].strip():
        last -= 1
    first = _first(lines, at, 1 if definition else _BEFORE)
    begin, end = definition.span(1) if definition else _text_of(lines[at])
    return Source(
        first=first + 1,
        lines=tuple(line.expandtabs(4)[:_WIDEST] for line in lines[first : last + 1]),
        column=min(len(lines[at][:begin].expandtabs(4)), _WIDEST) + 1,
        end_column=min(len(lines[at][:end].expandtabs(4)), _WIDEST) + 1,
    )


def _first(lines: list[str], at: int, most: int) -> int:
    """Up to `most` lines further up, but no empty line to begin with."""
    first = max(at - most, 0)
    while first < at and not lines[first].strip():
        first += 1
    return first


def _end_of_body(lines: list[str], at: int) -> int:
    """The last line of what is defined at line `at`, or the last that is shown of it."""
    own = _indent(lines[at])
    last = at
    for index in range(at + 1, min(at + _MOST_OF_A_BODY, len(lines))):
        if lines[index].strip():
            if _indent(lines[index]) <= own and not lines[index].lstrip().startswith(")"):
                break
            last = index
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _text_of(line: str) -> tuple[int, int]:
    """Where a line's code begins and ends, a comment behind it left out where that is plain."""
    code = line.split("  # ", 1)[0].rstrip() or line.rstrip()
    return min(_indent(line), len(code)), len(code)

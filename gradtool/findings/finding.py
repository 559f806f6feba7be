"""Making a `Finding`, with the user's lines around the place that it names.

The lines are read at once: a report may be rendered elsewhere and later, when the file has
changed or is out of reach.
"""

from __future__ import annotations

import linecache
import re
import shlex
from pathlib import Path

from gradtool.config.settings import Settings
from gradtool.results.report import (
    CheckResult,
    Evidence,
    Family,
    Finding,
    Location,
    Severity,
    Source,
    Verdict,
)
from gradtool.verify.rules import RULES


def make_finding(
    code: str,
    node: str,
    settings: Settings,
    *,
    message: str,
    location: Location,
    severity: Severity | None = None,
    evidence: Evidence | None = None,
    hint: str | None = None,
    detail: str | None = None,
    step: Location | None = None,
    repair: str | None = None,
) -> Finding:
    """Create a finding about the case, Function or module with the node id `node`."""
    rule = RULES[code]
    return Finding(
        rule=code,
        name=rule.name,
        severity=severity or rule.severity,
        node_id=f"{node}::{code}",
        message=message,
        location=location,
        source=excerpt(location),
        evidence=evidence,
        hint=hint,
        detail=detail,
        seed=settings.seed,
        replay=replay_command(node, code, settings) if settings.replayable else None,
        step=_only_line(step) if step else None,
        repair=repair,
    )


def could_not_run(finding: Finding) -> CheckResult:
    """The result of a rule about something that could not run at all."""
    return CheckResult(rule=finding.rule, verdict=Verdict.ERROR, findings=(finding,))


def as_argument(path: str) -> str:
    """Write a path or node id for a command line, where a dash would begin an option."""
    return f"./{path}" if path.startswith("-") else path


def replay_command(node: str, code: str, settings: Settings) -> str:
    """A command line that checks one rule on one node again, with the same numbers."""
    parts = [shlex.quote(as_argument(node))]
    if code not in Family.RUNNING:
        parts.append(f"--select {code}")
    return " ".join(["gradtool check", *parts, f"--seed {settings.seed}", *settings.flags])


def derive_command(node: str) -> str:
    """A command line that writes a correct backward for the Function of a node."""
    return f"gradtool derive {shlex.quote(as_argument(node.partition('[')[0]))}"


_LINES_BEFORE = 2
_LINES_AFTER = 2
_MAX_BODY = 14
"""Lines of a function that are shown, from its ``def`` on."""

_MAX_WIDTH = 160
"""Characters of a line that are kept."""

_DEFINITION = re.compile(r"\s*(?:async\s+)?(?:def|class)\s+(\w+)")


def excerpt(location: Location) -> Source | None:
    """The lines around `location`, or the function at a ``def``; None if they cannot be read."""
    if Path(location.path).exists() and not Path(location.path).is_file():
        return None  # Reading what the code put in its place, such as a pipe, could block.
    linecache.checkcache(location.path)
    try:
        lines = [line.rstrip("\n") for line in linecache.getlines(location.path)]
    except LookupError:  # The file names a codec that is none for text.
        return None
    if location.line is None or not 0 < location.line <= len(lines):
        return None
    at = location.line - 1
    definition = _DEFINITION.match(lines[at])
    last = _end_of_body(lines, at) if definition else min(at + _LINES_AFTER, len(lines) - 1)
    while last > at and not lines[last].strip():
        last -= 1
    first = _first(lines, at, 1 if definition else _LINES_BEFORE)
    begin, end = definition.span(1) if definition else _code_span(lines[at])
    return Source(
        first=first + 1,
        lines=tuple(line.expandtabs(4)[:_MAX_WIDTH] for line in lines[first : last + 1]),
        column=min(len(lines[at][:begin].expandtabs(4)), _MAX_WIDTH) + 1,
        end_column=min(len(lines[at][:end].expandtabs(4)), _MAX_WIDTH) + 1,
    )


def _only_line(location: Location) -> Source | None:
    text = linecache.getline(location.path, location.line or 0).rstrip("\n")
    if not text or location.line is None:
        return None
    begin, end = _code_span(text)
    shown = text.expandtabs(4)[:_MAX_WIDTH]
    return Source(first=location.line, lines=(shown,), column=begin + 1, end_column=end + 1)


def _first(lines: list[str], at: int, most: int) -> int:
    """Go at most `most` lines up, but do not begin with an empty line."""
    first = max(at - most, 0)
    while first < at and not lines[first].strip():
        first += 1
    return first


def _end_of_body(lines: list[str], at: int) -> int:
    """The last line of the definition at line `at`, or the last line to show of it."""
    own = _indent(lines[at])
    last = at
    for index in range(at + 1, min(at + _MAX_BODY, len(lines))):
        if lines[index].strip():
            if _indent(lines[index]) <= own and not lines[index].lstrip().startswith(")"):
                break
            last = index
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _code_span(line: str) -> tuple[int, int]:
    """Begin and end of a line's code, without a trailing comment that is easy to recognize."""
    code = line.split("  # ", 1)[0].rstrip() or line.rstrip()
    return min(_indent(line), len(code)), len(code)

"""The slowest rules and Functions of a timed run, as ``--durations`` lists them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from gradtool.report.terminal.console import DIM, STRONG, Page
from gradtool.report.words import duration, printable
from gradtool.results.report import Report
from gradtool.spelling import plural

_LEAST = 0.005
"""Seconds below which a duration is listed only with ``-vv``, as by pytest."""
_EXPLORING = "exploring beyond the cases"
_REST = "preparing, and writing findings"


class _Line(NamedTuple):
    seconds: float
    name: str
    about: str


def write_durations(page: Page, report: Report, *, most: int, verbosity: int) -> None:
    """Write the rules and the Functions that took longest.

    Args:
        page: Where to write.
        report: The report of a timed run.
        most: Number of lines of each list; 0 for all.
        verbosity: 2 adds durations that are too short to matter.
    """
    functions = list(_functions(report))
    total = sum(line.seconds for line in functions)
    least = 0.0 if verbosity > 1 else _LEAST
    for title, lines in (("rules", list(_rules(report, total))), ("Functions", functions)):
        _write_slowest(page, title, lines, most, least, total)


def _functions(report: Report) -> Iterator[_Line]:
    """The time of each Function: of its cases, and of exploring beside them."""
    for module, function in report.functions():
        cases = sum(case.seconds for case in function.cases)
        about = plural(len(function.cases), "case")
        if function.exploring:
            about += f", {duration(function.exploring)} exploring"
        yield _Line(cases + function.exploring, f"{module.path}::{function.name}", about)


def _rules(report: Report, total: float) -> Iterator[_Line]:
    """The time of each rule over all cases, of exploring, and what is left of the `total`."""
    names = {rule.code: rule.name for rule in report.rules}
    times: dict[str, list[float]] = defaultdict(list)
    exploring = []
    for _, function in report.functions():
        exploring += [function.exploring] * bool(function.exploring)
        for case in function.cases:
            for code, seconds in case.durations.items():
                times[code].append(seconds)
    for code, each in times.items():
        yield _Line(sum(each), f"{code} {names.get(code, '')}".strip(), plural(len(each), "case"))
    yield _Line(sum(exploring), _EXPLORING, plural(len(exploring), "Function"))
    rest = total - sum(map(sum, times.values())) - sum(exploring)
    yield _Line(max(rest, 0.0), _REST, "")


def _write_slowest(
    page: Page, title: str, lines: Sequence[_Line], most: int, least: float, total: float
) -> None:
    """Write a list with its heading, and the number of durations that are too short for it."""
    found = sorted(lines, key=lambda line: -line.seconds)[: most or None]
    shown = [line for line in found if line.seconds >= least and line.seconds > 0]
    count = f" {most}" if most else ""
    page.whole(Text(f"slowest{count} {title}", style=STRONG))
    for line in shown:
        share = f"{100 * line.seconds / total:.0f}%"
        lead = f"{duration(line.seconds):>12}  {share:>4}  "
        text = Text(printable(line.name))
        text.append(f"  {line.about}" if line.about else "", style=DIM)
        page.wrapped(text, first=Text(lead), indent=len(lead))
    hidden = sum(0 < line.seconds < least for line in found)
    if hidden:
        less = f"({plural(hidden, 'duration')} under {duration(least)} hidden; -vv shows all)"
        page.whole(Text(f"  {less}", style=DIM))
    page.blank()

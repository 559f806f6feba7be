"""The phases of a profile as comma-separated values, one line each; times in seconds."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from gradtool.report.words import csv_cell
from gradtool.results.profile import Phase, ProfileReport

COLUMNS = (
    "node", "case", "phase", "median", "p25", "p75", "n", "batch", "peak", "trust", "unavailable",
)  # fmt: skip


def render(report: ProfileReport) -> str:
    """A line of names and a line for each phase; unknown values are empty.

    A Function, or a case, that could not be run has a line of its own with the reason.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([csv_cell(value) for value in row] for row in _rows(report))
    return file.getvalue()


def _rows(report: ProfileReport) -> Iterator[tuple[object, ...]]:
    nothing = ("",) * (len(COLUMNS) - 4)
    for function in report.functions:
        for case in function.cases:
            for phase in case.phases:
                yield (function.node, case.name, *_figures(phase))
            if case.problem:
                yield (function.node, case.name, "", *nothing, case.problem)
        if function.problem:
            yield (function.node, "", "", *nothing, function.problem)


def _figures(phase: Phase) -> tuple[object, ...]:
    time = phase.time
    times = ("",) * 4 if time is None else (time.median, time.p25, time.p75, time.n)
    peak = "" if phase.peak is None else phase.peak
    trust = time.trust if time is not None else ""
    return (phase.name, *times, phase.batch, peak, trust, phase.unavailable)

"""Rows and lines of a profile, as text that each format lays out in its own way."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.measure.units import about, time_text
from gradtool.results.profile import CaseProfile, FunctionProfile, Phase, ProfileReport
from gradtool.spelling import plural

COLUMNS = ("case", "phase", "median", "p25 - p75", "n", "peak", "trust")
"""``n`` samples; the ``peak`` of memory; ``trust`` marks samples that lie too far apart."""

TEXT_COLUMNS = frozenset({"case", "phase", "operation", "trust"})
"""Columns of both tables that are aligned left; the others are numbers."""

OPERATION_COLUMNS = ("case", "phase", "operation", "calls", "self", "share", "total")


def header(report: ProfileReport) -> str:
    """Versions, platform, engine and device of the run."""
    where = report.environment
    return (
        f"gradtool {where.gradtool}, Python {where.python}, NumPy {where.numpy}, {where.platform}, "
        f"{where.engine} engine on {where.device}"
    )


def rows(function: FunctionProfile) -> Iterator[tuple[str, ...]]:
    """A row of `COLUMNS` for each phase that was timed."""
    for case in function.cases:
        for phase in case.phases:
            yield (case.name, phase.name, *_figures(phase))


def _figures(phase: Phase) -> tuple[str, ...]:
    time = phase.time
    if time is None:
        return ("-", "", "", "", "")
    spread = f"{time_text(time.p25)} - {time_text(time.p75)}"
    peak = "-" if phase.peak is None else about(phase.peak)
    return time_text(time.median), spread, str(time.n), peak, time.trust


def operation_rows(function: FunctionProfile) -> Iterator[tuple[str, ...]]:
    """A row of `OPERATION_COLUMNS` for each operation of each phase."""
    for case in function.cases:
        for phase in case.phases:
            whole = sum(each.own for each in phase.operations)
            for each in phase.operations:
                share = f"{each.own / whole:.0%}" if whole else "-"
                times = time_text(each.own), share, time_text(each.total)
                yield (case.name, phase.name, each.name, str(each.calls), *times)


def in_brief(phase: Phase, most: int = 3) -> str:
    """The costliest operations of a phase: ``aten::mm 63% (2 calls), ...``."""
    whole = sum(each.own for each in phase.operations)
    shown = [
        f"{each.name} {each.own / whole:.0%} ({plural(each.calls, 'call')})"
        for each in phase.operations[:most]
        if whole
    ]
    rest = len(phase.operations) - most
    return ", ".join([*shown, *([f"{rest} more"] if rest > 0 else [])])


def problems(function: FunctionProfile) -> Iterator[str]:
    """A line for each phase, case or Function that could not be measured, with the reason."""
    for case in function.cases:
        if case.problem:
            yield f"[{case.name}] {case.problem}"
        yield from _missing(case)
    if function.problem:
        code = f"{function.rule} " if function.rule else ""
        yield f"{code}{function.problem}"


def _missing(case: CaseProfile) -> Iterator[str]:
    for phase in case.phases:
        if phase.unavailable:
            yield f"[{case.name}] {phase.name}: {phase.unavailable}"


def failed(function: FunctionProfile) -> bool:
    """Return True if the Function, or one of its cases, could not be run."""
    return bool(function.problem) or any(case.problem or _raises(case) for case in function.cases)


def _raises(case: CaseProfile) -> bool:
    """Return True if forward or backward raised; a second derivative is optional."""
    return any(phase.raised and phase.name != "double backward" for phase in case.phases)


def last_line(report: ProfileReport) -> str:
    """A summary: Functions, profiled cases, failures."""
    cases = [case for function in report.functions for case in function.cases]
    timed = sum(not case.problem and not _raises(case) for case in cases)
    missing = sum(failed(function) for function in report.functions)
    functions = plural(len(report.functions), "Function")
    parts = [f"{functions}, {plural(timed, 'case')} profiled in {report.seconds:.1f} s"]
    if missing:
        parts.append(f"{plural(missing, 'Function')} could not be run")
    if report.interrupted:
        parts.append("interrupted: the rest was not profiled")
    return "; ".join(parts)

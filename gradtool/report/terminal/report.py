"""The whole report for a person: header, table, findings, notices, summary."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from gradtool.report.findings import problems
from gradtool.report.formats.concise import finding_line
from gradtool.report.rows import rows
from gradtool.report.summary import (
    counts,
    opening,
    remarks,
    seeds,
    summarize,
    total_cost,
    unchecked_lines,
)
from gradtool.report.terminal.console import DIM, STRONG, VERDICTS, Page, make_console
from gradtool.report.terminal.durations import write_durations
from gradtool.report.terminal.findings import write_findings
from gradtool.report.terminal.table import write_table
from gradtool.report.words import duration, evaluations, printable
from gradtool.results.report import CheckResult, ModuleResult, Report, Verdict
from gradtool.spelling import plural


def render(
    report: Report, console: Console, *, verbosity: int = 0, durations: int | None = None
) -> None:
    """Write the report to a console.

    Args:
        report: What to write.
        console: Where to write it, at its width and in its colours.
        verbosity: Below 0 leaves out the header and the table. 1 adds the arguments of
            every case, the reasons of its checks and the tracebacks of findings; 2 adds
            every check.
        durations: Number of the slowest rules and Functions to list, 0 for all; None lists none.
    """
    page = Page(console)
    if verbosity >= 0:
        _write_header(page, report)
        listed = list(rows(report))
        if listed:
            write_table(page, listed, strict=report.strict, verbosity=verbosity)
    write_findings(page, problems(report), verbosity=verbosity)
    _write_notices(page, report)
    if durations is not None:
        write_durations(page, report, most=durations, verbosity=verbosity)
    if verbosity >= 0:
        _write_cost(page, report)
    _write_summary(page, report)


def plain(
    report: Report,
    *,
    width: int | None = None,
    verbosity: int = 0,
    durations: int | None = None,
) -> str:
    """The report as text without colour; `width` None leaves every line whole."""
    file = io.StringIO()
    console = make_console(file, "never", width=width)
    render(report, console, verbosity=verbosity, durations=durations)
    return file.getvalue()


def _write_header(page: Page, report: Report) -> None:
    ran_on = report.environment
    line = Text(f"gradtool {ran_on.gradtool}", style=STRONG)
    about = (
        f"{ran_on.engine} engine, {ran_on.device}, seed {seeds(report)}, "
        f"NumPy {ran_on.numpy}, Python {ran_on.python}"
    )
    page.wrapped(line.append(f"  {about}", style="not bold dim"), indent=2, first=Text())
    if report.configs:
        page.wrapped(Text(f"configuration: {', '.join(report.configs)}", style=DIM))
    page.blank()


def _write_notices(page: Page, report: Report) -> None:
    for notice in report.notices:
        page.wrapped(Text(notice, style=_WRONG if notice in report.unmet else DIM))
    if report.notices:
        page.blank()


_WRONG = VERDICTS[Verdict.FAIL]


def _write_cost(page: Page, report: Report) -> None:
    cost = total_cost(report)
    if cost.forward or cost.backward:
        page.whole(Text(evaluations(cost), style=DIM))


def _write_summary(page: Page, report: Report) -> None:
    """The counts with the time, in colour if not zero; below, what was not checked."""
    summary = summarize(report)
    counted = [
        Text(text, style=DIM if text.startswith("0 ") else VERDICTS[verdict])
        for verdict, text in counts(summary)
    ]
    line = Text(f"{opening(report, summary)} in {duration(report.seconds)}: ")
    page.wrapped(line.append_text(Text(", ").join(counted)).append(remarks(summary)))
    _write_unchecked(page, *unchecked_lines(report, summary))


def _write_unchecked(page: Page, line: str, phrases: tuple[str, ...]) -> None:
    page.wrapped(Text(line), indent=2, first=Text())
    for phrase in phrases:
        page.wrapped(Text(phrase), indent=4, first=Text("  "))


def render_cases(modules: Iterable[ModuleResult], console: Console, *, quiet: bool = False) -> None:
    """Write the node ids of all cases, what could not be collected, and the counts.

    Args:
        modules: Modules with Functions and cases, none of them checked.
        console: Where to write.
        quiet: Leave out the arguments of each case.
    """
    page = Page(console)
    functions = cases = 0
    for module in modules:
        _write_broken(page, module.checks)
        for function in module.functions:
            _write_broken(page, function.checks)
            functions += 1
            cases += len(function.cases)
            for case in function.cases:
                page.whole(Text(printable(f"{module.path}::{function.name}[{case.name}]")))
                if case.arguments and not quiet:
                    page.wrapped(Text(printable(", ".join(case.arguments)), style=DIM), indent=4)
    counts = f"{plural(functions, 'Function')}, {plural(cases, 'case')} collected"
    page.whole(Text(f"{counts}; nothing was checked"))


def _write_broken(page: Page, checks: tuple[CheckResult, ...]) -> None:
    for check in checks:
        for finding in check.findings:
            page.whole(Text(finding_line(finding), style=VERDICTS[Verdict.ERROR]))

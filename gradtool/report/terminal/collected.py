"""The cases that a run would check, one node id a line, ready to be copied."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from gradtool.report.formats.concise import finding_line
from gradtool.report.terminal.lines import Page
from gradtool.report.terminal.styles import DIM, VERDICTS
from gradtool.report.words import plural, printable
from gradtool.results.report import CheckResult, ModuleResult, Verdict


def render(modules: Iterable[ModuleResult], console: Console, *, quiet: bool = False) -> None:
    """Write the node ids of all cases, what could not be collected, and the counts.

    Args:
        modules: Modules with Functions and cases, none of them checked.
        console: Where to write.
        quiet: Leave out the arguments of each case.
    """
    page = Page(console)
    functions = cases = 0
    for module in modules:
        _write_problems(page, module.checks)
        for function in module.functions:
            _write_problems(page, function.checks)
            functions += 1
            cases += len(function.cases)
            for case in function.cases:
                page.whole(Text(printable(f"{module.path}::{function.name}[{case.name}]")))
                if case.arguments and not quiet:
                    page.wrapped(Text(printable(", ".join(case.arguments)), style=DIM), indent=4)
    counts = f"{plural(functions, 'Function')}, {plural(cases, 'case')} collected"
    page.whole(Text(f"{counts}; nothing was checked"))


def _write_problems(page: Page, checks: tuple[CheckResult, ...]) -> None:
    for check in checks:
        for finding in check.findings:
            page.whole(Text(finding_line(finding), style=VERDICTS[Verdict.ERROR]))

"""``gradtool doctor``: diagnose the installation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from gradtool.cli.exit_codes import ExitCode
from gradtool.cli.options.choices import choose
from gradtool.cli.options.declared import COLORS, Color

if TYPE_CHECKING:
    from gradtool.doctor.results import DoctorReport


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    color: Color = "auto",
) -> Callable[[], ExitCode]:
    """Diagnose this installation and suggest fixes."""
    choose(color, COLORS, "value of --color:")
    return partial(_run, as_json, color)


def _run(as_json: bool, color: str) -> ExitCode:
    from gradtool.cli.output.streams import reader_may_leave
    from gradtool.doctor.runner import run_probes

    found = run_probes()
    with reader_may_leave(sys.stdout):
        if as_json:
            sys.stdout.write(_document(found))
        else:
            _show(found, color)
    return ExitCode.PASSED if found.healthy else ExitCode.FAILED


def _document(found: DoctorReport) -> str:
    import msgspec

    from gradtool.report.formats.json import indented

    return indented({**msgspec.to_builtins(found), "healthy": found.healthy})


def _show(found: DoctorReport, color: str) -> None:
    import msgspec

    from gradtool.report.terminal.console import make_console
    from gradtool.report.terminal.doctor import render

    console = make_console(sys.stdout, cast("Any", color))
    stopping = [answer.name for answer in found.answers if answer.stops]
    verdict = f"gradtool {found.gradtool}: everything it needs is in place"
    if stopping:
        verdict = f"gradtool {found.gradtool} cannot run: fix {', '.join(stopping)}"
    render([msgspec.to_builtins(answer) for answer in found.answers], console, verdict=verdict)

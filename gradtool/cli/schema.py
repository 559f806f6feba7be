"""``gradtool schema``: the published schemas of what gradtool writes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from gradtool.cli.choices import choose
from gradtool.cli.exit_codes import ExitCode
from gradtool.cli.streams import reader_may_leave

_KINDS = ("report",)


def schema(
    kind: Annotated[str, typer.Argument(metavar="|".join(_KINDS), help="What it describes.")],
) -> Callable[[], ExitCode]:
    """Print the JSON Schema of the JSON report."""
    choose(kind, _KINDS, "schema")
    return _print_report_schema


def _print_report_schema() -> ExitCode:
    from gradtool.report.document import published_schema

    with reader_may_leave(sys.stdout):
        sys.stdout.write(published_schema())
    return ExitCode.PASSED

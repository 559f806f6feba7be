"""``gradtool schema``: the published schemas of report formats."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Annotated

import typer

from gradtool.cli.exit_codes import ExitCode
from gradtool.cli.options.choices import choose
from gradtool.cli.output.streams import reader_may_leave

_KINDS = {
    "report": "gradtool.report.formats.json",
    "json-lines": "gradtool.report.formats.json_lines",
    "transfer": "gradtool.report.transfer.document",
    "profile": "gradtool.report.profile.document",
}
"""Where the schema of each kind of report is."""


def schema(
    kind: Annotated[str, typer.Argument(metavar="|".join(_KINDS), help="Format to describe.")],
) -> Callable[[], ExitCode]:
    """Print the JSON Schema of a report format."""
    return partial(_print, _KINDS[choose(kind, list(_KINDS), "schema")])


def _print(module: str) -> ExitCode:
    text: str = import_module(module).published_schema()
    with reader_may_leave(sys.stdout):
        sys.stdout.write(text)
    return ExitCode.PASSED

"""``gradtool merge``: unite the JSON reports of shards, and end as one run would have."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, cast

import typer

from gradtool.cli.exit_codes import ExitCode, exit_code
from gradtool.cli.options import baseline as adoption
from gradtool.cli.options import check as cli
from gradtool.cli.options.choices import choose, printed_form

if TYPE_CHECKING:
    from gradtool.cli.output.display import Display
    from gradtool.policy.requirements import Requirements
    from gradtool.report.terminal.console import Color


def merge(
    context: typer.Context,
    parts: Annotated[
        list[str],
        typer.Argument(metavar="REPORT...", show_default=False, help="JSON reports."),
    ],
    require_functions: adoption.RequireFunctions = None,
    require_double_backward: adoption.RequireDoubleBackward = False,
    form: cli.Format = None,
    reports: cli.Reports = None,
    quiet: cli.Quiet = 0,
    verbose: cli.Verbose = 0,
    color: cli.Color = "auto",
) -> Callable[[], ExitCode]:
    """Unite the JSON reports of shards, and end with the exit code of the whole."""
    from gradtool.cli.output.display import Display
    from gradtool.policy.requirements import Requirements

    display = Display(
        form=form and printed_form(form),
        color=cast("Color", choose(color, cli.COLORS, "value of --color:")),
        verbosity=verbose - quiet,
    )
    required = Requirements(require_functions, require_double_backward)
    return partial(_merge, parts, required, reports or (), display, context.obj)


def _merge(
    parts: Sequence[str],
    required: Requirements,
    reports: Sequence[str],
    display: Display,
    command: str,
) -> ExitCode:
    import msgspec

    from gradtool.cli.output.reports import claimed, write_all
    from gradtool.policy.changes import apply
    from gradtool.policy.pipeline import policies_of_merge
    from gradtool.run import merging

    united = merging.merge([merging.read_part(name) for name in parts], command)
    united = apply(policies_of_merge(required), united)
    code = exit_code(united, strict=united.strict)
    united = msgspec.structs.replace(united, exit_code=int(code))
    with (
        claimed(reports, inputs=parts) as outputs,
        write_all(outputs, united) as is_stdout_taken,
    ):
        display.show(united, sys.stderr if is_stdout_taken else sys.stdout)
    return code

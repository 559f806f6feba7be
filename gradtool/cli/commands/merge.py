"""``gradtool merge``: merge the JSON reports of shards; exit as one run would have."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from gradtool.cli.exit_codes import ExitCode, exit_code
from gradtool.cli.options.groups import OutputGroup, RequirementGroup, expanded

if TYPE_CHECKING:
    from gradtool.cli.output.display import Display
    from gradtool.config.options import Requirements


@expanded
def merge(
    context: typer.Context,
    parts: Annotated[
        list[str],
        typer.Argument(metavar="REPORT...", show_default=False, help="JSON reports of shards."),
    ],
    requirements: RequirementGroup,
    output: OutputGroup,
) -> Callable[[], ExitCode]:
    """Merge the JSON reports of shards into one."""
    display = output.display()
    reports = output.reports or ()
    return partial(_merge, parts, requirements.options(), reports, display, context.obj)


def _merge(
    parts: Sequence[str],
    requirements: Requirements,
    reports: Sequence[str],
    display: Display,
    command: str,
) -> ExitCode:
    import msgspec

    from gradtool.cli.output.reports import claim_outputs, write_all
    from gradtool.policy.changes import apply
    from gradtool.policy.pipeline import policies_of_merge
    from gradtool.run import merging

    united = merging.merge([merging.read_part(name) for name in parts], command)
    united = apply(policies_of_merge(requirements), united)
    code = exit_code(united, strict=united.strict)
    united = msgspec.structs.replace(united, exit_code=int(code))
    with (
        claim_outputs(reports, inputs=parts) as outputs,
        write_all(outputs, united) as is_stdout_taken,
    ):
        display.show(united, sys.stderr if is_stdout_taken else sys.stdout)
    return code

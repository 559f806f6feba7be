"""``gradtool run``: run a script that imports torch on gradtool's engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import typer


def run(
    script: Annotated[str, typer.Argument(metavar="SCRIPT", help="Script to run.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="ARGS", show_default=False, help="Arguments for the script."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Include gradtool's frames in tracebacks.")
    ] = False,
) -> Callable[[], int]:
    """Run a Python script with gradtool's engine as torch."""
    return partial(_run, script, tuple(arguments or ()), verbose)


def _run(script: str, arguments: Sequence[str], verbose: bool) -> int:
    from gradtool.collect.torch_alias.run_script import run_script

    return run_script(script, arguments, all_frames=verbose)


SETTINGS = {"allow_interspersed_args": False}
"""For Click: what follows the script belongs to the script, dashes and all."""

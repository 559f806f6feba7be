"""``gradtool run``: run a script or module that imports torch on gradtool's engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import typer


def run(
    script: Annotated[
        str, typer.Argument(metavar="SCRIPT", help="Script to run; with -m, a module.")
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="ARGS", show_default=False, help="Arguments for the script."),
    ] = None,
    is_module: Annotated[
        bool, typer.Option("--module", "-m", help="Run a module by name, as python -m does.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Include gradtool's frames in tracebacks.")
    ] = False,
) -> Callable[[], int]:
    """Run a Python script with gradtool's engine as torch."""
    return partial(_run, script, tuple(arguments or ()), is_module, verbose)


def _run(script: str, arguments: Sequence[str], is_module: bool, verbose: bool) -> int:
    from gradtool.collect.torch_alias.run_script import run_module, run_script

    run = run_module if is_module else run_script
    return run(script, arguments, all_frames=verbose)


SETTINGS = {"allow_interspersed_args": False}
"""For Click: what follows the script belongs to the script, dashes and all."""

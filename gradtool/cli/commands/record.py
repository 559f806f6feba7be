"""``gradtool record``: run tests or a script, and write what its Functions were called with."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradtool.cli.exit_codes import ExitCode
from gradtool.cli.options.choices import choose

if TYPE_CHECKING:
    from gradtool.record.notes import Recorded


def record(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND...", help="Command to run, such as pytest tests or python train.py."
        ),
    ],
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="Engine behind `import torch` in the command: torch (the default if installed) or"
            " bundled.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="Maximum number of cases for each Function.")
    ] = 5,
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File to write; gradtool.yaml by default."),
    ] = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Write the cases without checking them.")
    ] = False,
) -> Callable[[], int]:
    """Run a command and record the arguments of its Functions as cases."""
    return partial(_record, tuple(command), engine, limit, config, no_check)


SETTINGS = {"allow_interspersed_args": False}
"""For Click: what follows the command belongs to it, dashes and all."""


def _record(
    command: Sequence[str], engine: str | None, limit: int, config: str | None, no_check: bool
) -> int:
    from gradtool.record.recording import record as run
    from gradtool.spelling import plural

    if engine is not None:
        choose(engine, ("torch", "bundled"), "engine")
    path = _file(config)
    _require_valid(path)  # Before a command that may take an hour.
    code, found = run(command, engine=engine, limit=limit, root=Path.cwd())
    if code:
        print(f"the command exited with code {code}", file=sys.stderr)
    for each in found:
        if each.problem:
            which = f"some calls to {_shown(each)} were" if each.cases else f"{_shown(each)} was"
            print(f"{which} not recorded: {each.problem}", file=sys.stderr)
    kept = [each for each in found if each.cases]
    if not kept:
        if not code and not found:
            print(
                f"{shlex.join(command)} called no Function that is defined in this folder",
                file=sys.stderr,
            )
        return ExitCode.NOTHING_CHECKED
    added = _write(path, kept)
    counts = plural(added, "new case"), plural(len(kept), "Function")
    print(f"{os.path.relpath(path)}: {' of '.join(counts)}")
    for each in filter(_has_samples, kept):
        print(f"{_shown(each)}: the cases in that file replace its sample_inputs", file=sys.stderr)
    if no_check:
        return ExitCode.PASSED
    return _check(path, kept)


def _has_samples(recorded: Recorded) -> bool:
    """Return True if the source of a Function declares samples; without importing it."""
    import ast

    classes = (
        node
        for node in ast.walk(ast.parse(recorded.file.read_bytes()))
        if isinstance(node, ast.ClassDef) and node.name == recorded.function.rpartition(".")[2]
    )
    return any(getattr(each, "name", "") == "sample_inputs" for cls in classes for each in cls.body)


def _file(config: str | None) -> Path:
    from gradtool.config.files import FILE_NAME, find_config

    if config is not None:
        return Path(config)
    return find_config(Path.cwd()) or Path.cwd() / FILE_NAME


def _require_valid(path: Path) -> None:
    from gradtool.config.files import load_config

    if path.exists():
        load_config(path)


def _write(path: Path, found: Sequence[Recorded]) -> int:
    """Add the cases to the file, whole or not at all, and count the new ones."""
    from gradtool.cli.output.destinations import replace
    from gradtool.config.files import load_config
    from gradtool.errors import UsageError
    from gradtool.record.merging import Addition, key_of, merged

    text = path.read_text(encoding="utf-8-sig") if path.exists() else None
    keys = tuple(load_config(path).functions) if text is not None else ()
    folder = path.resolve().parent
    additions = [
        Addition(key_of(keys, folder, each.file, each.function), each.cases) for each in found
    ]
    written, added = merged(text, os.path.relpath(path), additions)
    try:
        if added:
            replace(path, written)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"{os.path.relpath(path)} cannot be written: {reason}") from None
    return added


def _check(path: Path, found: Sequence[Recorded]) -> int:
    from gradtool.cli.app import main  # Which imports this module.

    nodes = [_shown(each) for each in found]
    given = [] if _is_nearest(path, found) else ["--config", os.path.relpath(path)]
    return main(["check", *given, *nodes])


def _is_nearest(path: Path, found: Sequence[Recorded]) -> bool:
    """Return True if a check of the Functions reads that file by itself."""
    from gradtool.config.files import find_config

    nearest = {find_config(each.file.resolve().parent) for each in found}
    return nearest == {path.resolve()}


def _shown(recorded: Recorded) -> str:
    return f"{os.path.relpath(recorded.file)}::{recorded.function}"

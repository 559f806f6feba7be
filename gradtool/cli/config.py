"""``gradtool config``: what holds for a path without options, and where each value is from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradtool.cli import options as cli
from gradtool.cli.exit_codes import ExitCode
from gradtool.cli.streams import reader_may_leave

if TYPE_CHECKING:
    from gradtool.gate.config import Config

_Row = tuple[str, str, str]
"""Key, value, and where it is from."""


def config(
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help="A file or a folder.", show_default=False)
    ] = ".",
    named: cli.Config = None,
) -> Callable[[], ExitCode]:
    """Print which configuration holds for a path, and where each value comes from."""
    return partial(_config, path, named)


def _config(path: str, named: str | None) -> ExitCode:
    from gradtool.gate.configs import config_of
    from gradtool.gate.targets import shown_path

    found = config_of(path, named)
    place = "no gradtool.yaml" if found.path is None else shown_path(found.path)
    rows = list(_rows(found, place))
    keys, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    with reader_may_leave(sys.stdout):
        sys.stdout.write(f"configuration for {path}: {place}\n")
        for key, value, origin in rows:
            sys.stdout.write(f"  {key:<{keys}}  {value:<{values}}  {origin}\n")
    return ExitCode.PASSED


def _rows(found: Config, place: str) -> Iterator[_Row]:
    from gradtool.gate.settings import DEFAULTS

    for key in found.check.__struct_fields__:
        value = getattr(found.check, key)
        is_given = value is not None and value != ()
        told = value if is_given else DEFAULTS.get(key)
        yield key, spelled(told), place if is_given else "default"
    for name, function in found.functions.items():
        cases = f"{len(function.cases)} case{'' if len(function.cases) == 1 else 's'}"
        ignored = [f"{rule} ignored" for rule in function.ignore]
        yield name, ", ".join([cases, *ignored]), place


def spelled(value: Any) -> str:
    """A value as the file would have it; ``-`` where it is unset."""
    if value is None or value == ():
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(value) if isinstance(value, tuple) else str(value)

"""``gradtool config``: the settings for a path without options, and their sources."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradtool.cli.exit_codes import ExitCode
from gradtool.cli.options import declared as cli
from gradtool.cli.options.groups import configured
from gradtool.cli.output.streams import reader_may_leave
from gradtool.spelling import plural

if TYPE_CHECKING:
    from gradtool.config.files import Config

_Row = tuple[str, str, str]
"""Key, value, and where it is from."""


def config(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="File or folder; the current folder by default.",
            show_default=False,
        ),
    ] = ".",
    config: cli.Config = None,
    isolated: cli.Isolated = False,
) -> Callable[[], ExitCode]:
    """Print the settings for a path and their sources."""
    return partial(_config, path, config or (), isolated)


def _config(path: str, given: Sequence[str], isolated: bool) -> ExitCode:
    from gradtool.config.files import config_of
    from gradtool.results.paths import shown_path

    found = config_of(path, configured(given, isolated))
    none = "no file (--isolated)" if isolated else "no gradtool.yaml"
    place = none if found.path is None else shown_path(found.path)
    rows = list(_rows(found, place, Path(path)))
    keys, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    with reader_may_leave(sys.stdout):
        sys.stdout.write(f"configuration for {path}: {place}\n")
        for key, value, origin in rows:
            sys.stdout.write(f"  {key:<{keys}}  {value:<{values}}  {origin}\n")
    return ExitCode.PASSED


def _rows(found: Config, place: str, path: Path) -> Iterator[_Row]:
    from gradtool.config.settings import DEFAULTS

    for key in found.check.__struct_fields__:
        value = getattr(found.check, key)
        is_given = value is not None and value != ()
        shown = value if is_given else DEFAULTS.get(key)
        origin = found.document.origin(("check", key)) or place
        yield key, spelled(shown), origin if is_given else "default"
    concerned = (name for name in found.functions if _concerns(found, name, path))
    for name in concerned:
        function = found.functions[name]
        cases = plural(len(function.cases), "case")
        ignored = [f"{rule} ignored" for rule in function.ignore]
        yield name, ", ".join([cases, *ignored]), ", ".join(_origins(found, name, place))


def _concerns(found: Config, name: str, path: Path) -> bool:
    """Return True if an entry may be for a Function in `path`, a file or a folder."""
    from gradtool.results.paths import real_path

    owner = name.rpartition("::")[0]
    return not owner or path.is_dir() or real_path(found.folder / owner) == real_path(path)


def _origins(found: Config, name: str, place: str) -> Iterator[str]:
    """The origins of the settings of a Function: the file, options, or both."""
    whole = ("functions", name)
    if found.document.origin(whole) is None:
        yield place
    own = [origin for at, origin in found.document.origins.items() if at[:2] == whole]
    above = found.document.origins.get(whole[:1])
    yield from dict.fromkeys([*([above] if above and not own else []), *own])


def spelled(value: Any) -> str:
    """A value as the file would have it; ``-`` where it is unset."""
    if value is None or value == ():
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(value) if isinstance(value, tuple) else str(value)

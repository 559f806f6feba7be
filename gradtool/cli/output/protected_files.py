"""Files that a report must not replace: those that its run reads, and those that people keep."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gradtool.cli.output.destinations import place_of
from gradtool.config import files as config
from gradtool.config.options import CheckOptions
from gradtool.errors import UsageError
from gradtool.policy import baseline
from gradtool.results.paths import split_path

_PROTECTED = {config.FILE_NAME: "a configuration file", baseline.FILE_NAME: "a baseline"}
"""Kinds of the files with these names."""


def read_by(options: CheckOptions) -> list[str | None]:
    """The files given to a run: those that it checks, and a configuration."""
    return [*(split_path(path)[0] for path in options.selection.paths), options.config.file]


def require_free(flag: str, name: str, inputs: Iterable[str]) -> None:
    """Refuse a place for a report that would overwrite a file in use.

    Args:
        flag: The option that requests the report.
        name: The place.
        inputs: The files that the run reads or keeps, by any name.

    Raises:
        OSError: The file there cannot be examined.
        UsageError: The place is one of `inputs`, or holds Python code, a configuration or a
            baseline.
    """
    place = Path(place_of(name))
    if place.exists() and not place.is_file():
        return  # A folder cannot be replaced; a pipe and a device are not.
    what = _what(place, inputs)
    if what:
        raise UsageError(f"{flag}: {name} must not be overwritten: it is {what}; use another file")


def _what(place: Path, inputs: Iterable[str]) -> str:
    if str(place) in map(place_of, inputs):
        return "used by this run"
    if not place.exists():
        return ""
    return "Python code" if place.suffix == ".py" else _PROTECTED.get(place.name, "")

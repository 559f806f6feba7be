"""Single values of the configuration that are given without a file.

``--config KEY=VALUE`` gives one, with the key path from the root of the file that messages use:
``check.timeout``, ``functions['ops.py::Square'].atol``. Each key of ``check`` also has an
environment variable, such as ``GRADTOOL_TIMEOUT``. A value is written as in the file. They are
put into the document before it is decoded, so mistakes get the same messages.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from gradtool.config.decoding import spelled
from gradtool.config.document import Document, Where
from gradtool.config.environment import VARIABLES
from gradtool.config.schema import Defaults, File
from gradtool.config.yaml import parse_document
from gradtool.errors import UsageError
from gradtool.spelling import nearest

_STEP = re.compile(r"""\.?([^\W\d]\w*)|\[(\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]""")
_FORM = "check.timeout=120 or functions['ops.py::Square'].atol=1e-6"


class Override(msgspec.Struct, frozen=True):
    """One value, and its place in the document."""

    where: Where
    value: Any
    origin: str
    """The option or variable that gave it, as messages and reports name it."""


def split_config(values: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Split the values of ``--config`` into the file and the ``KEY=VALUE`` pairs.

    Raises:
        UsageError: More than one file is among them.
    """
    files = [value for value in values if not _is_pair(value)]
    if len(files) > 1:
        raise UsageError(f"--config was given two files, {files[0]} and {files[1]}: give only one")
    pairs = tuple(value for value in values if _is_pair(value))
    return (files[0] if files else None), pairs


def _is_pair(text: str) -> bool:
    return "=" in text and not os.path.exists(text)  # noqa: PTH110 - never raises


def parse_variable(text: str) -> Override:
    """Read ``GRADTOOL_TIMEOUT=120``.

    Raises:
        UsageError: The value is not YAML.
    """
    name, _, value = text.partition("=")
    return Override(("check", VARIABLES[name]), _value(value, _named(text)), _named(text))


def _named(text: str) -> str:
    return text if text.isprintable() else ascii(text)[1:-1]


def _value(text: str, origin: str) -> Any:
    if not text.strip():
        raise UsageError(f"{origin}: the value is missing; null restores the default")
    return parse_document(text, origin, has_lines=False).value


def parse_override(text: str) -> Override:
    """Read ``KEY=VALUE``.

    Raises:
        UsageError: It is not of this form, or the value is not YAML.
    """
    origin = f"--config {_named(text)}"
    where, rest = _key(text)
    if not where or not rest.startswith("="):
        raise UsageError(f"{origin}: this is neither a file nor a setting such as {_FORM}")
    _require_root(where[0], origin)
    return Override(where, _value(rest[1:], origin), origin)


def _key(text: str) -> tuple[Where, str]:
    """Split off the steps that `text` begins with."""
    steps: list[str | int] = []
    at = 0
    while match := _STEP.match(text, at):
        if not steps and text.startswith("."):
            break
        name, index, *quoted = match.groups()
        steps.append(int(index) if index else next(s for s in (name, *quoted) if s is not None))
        at = match.end()
    return tuple(steps), text[at:]


def _require_root(first: str | int, origin: str) -> None:
    """Suggest the section of a key that was written without one."""
    known = File.__struct_fields__
    if first in known or nearest(str(first), known):
        return  # Decoding the document reports the mistake, if it is one.
    meant = nearest(str(first), Defaults.__struct_fields__)
    if meant:
        raise UsageError(f"{origin}: unknown key {first!r} (did you mean 'check.{meant}'?)")


def overridden(document: Document, overrides: Iterable[Override]) -> Document:
    """Put values into the document; the last one for a key is used.

    Raises:
        UsageError: A key leads through something that has no keys.
    """
    for override in overrides:
        document = _with(document, override)
    return document


def _with(document: Document, override: Override) -> Document:
    where = override.where
    # Mistakes in the new value must name the option, not the line that it replaces.
    stale = {place for place in document.lines if place[: len(where)] == where}
    lines = {place: line for place, line in document.lines.items() if place not in stale}
    above = (where[:end] for end in range(1, len(where)))
    created = dict.fromkeys((place for place in above if place not in lines), override.origin)
    origins = {p: o for p, o in document.origins.items() if p[: len(where)] != where}
    value = _replaced(document.value, override, 0)
    return Document(document.name, value, lines, {**created, **origins, where: override.origin})


def _replaced(inside: Any, override: Override, depth: int) -> Any:
    """Put the value into `inside`, which is at the first `depth` steps of the key."""
    if depth == len(override.where):
        return override.value
    step = override.where[depth]
    if isinstance(step, int):
        if not isinstance(inside, list) or step >= len(inside):
            missing = spelled(override.where[: depth + 1])
            raise UsageError(f"{override.origin}: {missing} does not exist")
        item = _replaced(inside[step], override, depth + 1)
        return [*inside[:step], item, *inside[step + 1 :]]
    mapping = {} if inside is None else inside
    if not isinstance(mapping, dict):
        raise UsageError(f"{override.origin}: {spelled(override.where[:depth])} has no keys")
    return {**mapping, step: _replaced(mapping.get(step), override, depth + 1)}

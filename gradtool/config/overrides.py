"""Single values of the configuration that are given without a file.

``--config KEY=VALUE`` gives one, with a key that is spelled as messages spell it, from the root of
the file on: ``check.timeout``, ``functions['ops.py::Square'].atol``. Each key of ``check`` has an
environment variable too, such as ``GRADTOOL_TIMEOUT``. A value is written as in the file. All
become part of the document before it is read, so the same mistakes are found in the same words.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gradtool.config.decoding import spelled
from gradtool.config.environment import VARIABLES
from gradtool.config.schema import Defaults, File
from gradtool.config.yaml import Document, Where, parse_document
from gradtool.errors import UsageError
from gradtool.spelling import nearest

_STEP = re.compile(r"""\.?([^\W\d]\w*)|\[(\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]""")
_FORM = "check.timeout=120 or functions['ops.py::Square'].atol=1e-6"


@dataclass(frozen=True)
class Override:
    """One value, and where it stands."""

    where: Where
    value: Any
    origin: str
    """What it was given by, as messages and reports name it."""


def split_config(values: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """The file, and the ``KEY=VALUE`` pairs, that ``--config`` was given.

    Raises:
        UsageError: More than one file is among them.
    """
    files = [value for value in values if not _is_pair(value)]
    if len(files) > 1:
        raise UsageError(f"--config names two files, {files[0]} and {files[1]}: name one")
    pairs = tuple(value for value in values if _is_pair(value))
    return (files[0] if files else None), pairs


def _is_pair(text: str) -> bool:
    return "=" in text and not os.path.exists(text)  # noqa: PTH110 - never raises


def parse_variable(text: str) -> Override:
    """Read ``GRADTOOL_TIMEOUT=120``.

    Raises:
        UsageError: The value is no YAML.
    """
    name, _, value = text.partition("=")
    return Override(("check", VARIABLES[name]), _value(value, _named(text)), _named(text))


def _named(text: str) -> str:
    return text if text.isprintable() else ascii(text)[1:-1]


def _value(text: str, origin: str) -> Any:
    if not text.strip():
        raise UsageError(f"{origin}: the value is missing; null stands for the default")
    return parse_document(text, origin, has_lines=False).value


def parse_override(text: str) -> Override:
    """Read ``KEY=VALUE``.

    Raises:
        UsageError: It is not of this form, or the value is no YAML.
    """
    origin = f"--config {_named(text)}"
    where, rest = _key(text)
    if not where or not rest.startswith("="):
        raise UsageError(f"{origin}: no such file, and no KEY=VALUE such as {_FORM}")
    _require_root(where[0], origin)
    return Override(where, _value(rest[1:], origin), origin)


def _key(text: str) -> tuple[Where, str]:
    """The steps that `text` begins with, and what follows them."""
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
    """Say where a key belongs that was written without its section."""
    known = File.__struct_fields__
    if first in known or nearest(str(first), known):
        return  # What the file is held against finds the words for it.
    meant = nearest(str(first), Defaults.__struct_fields__)
    if meant:
        raise UsageError(f"{origin}: unknown key {first!r} (did you mean 'check.{meant}'?)")


def overridden(document: Document, overrides: Iterable[Override]) -> Document:
    """The document with values in place of its own, the last of a key's counting.

    Raises:
        UsageError: A key leads through something that holds no keys.
    """
    for override in overrides:
        document = _with(document, override)
    return document


def _with(document: Document, override: Override) -> Document:
    where = override.where
    stale = {place for place in document.lines if place[: len(where)] == where}
    lines = {place: line for place, line in document.lines.items() if place not in stale}
    above = (where[:end] for end in range(1, len(where)))
    made = dict.fromkeys((place for place in above if place not in lines), override.origin)
    origins = {p: o for p, o in document.origins.items() if p[: len(where)] != where}
    value = _replaced(document.value, override, 0)
    return Document(document.name, value, lines, {**made, **origins, where: override.origin})


def _replaced(inside: Any, override: Override, depth: int) -> Any:
    """What stands at the first `depth` steps of the key, with the value put into it."""
    if depth == len(override.where):
        return override.value
    step = override.where[depth]
    if isinstance(step, int):
        if not isinstance(inside, list) or step >= len(inside):
            missing = spelled(override.where[: depth + 1])
            raise UsageError(f"{override.origin}: there is no {missing}")
        item = _replaced(inside[step], override, depth + 1)
        return [*inside[:step], item, *inside[step + 1 :]]
    held = {} if inside is None else inside
    if not isinstance(held, dict):
        raise UsageError(f"{override.origin}: {spelled(override.where[:depth])} holds no keys")
    return {**held, step: _replaced(held.get(step), override, depth + 1)}

"""Docstrings in which the names of arguments have the letter case of the signature."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of

_WORD = re.compile(r"(?<![\w'\".])[A-Za-z]\w*(?![\w'\"])")
"""Matches a word that is not quoted, as the value of an option is, and not an attribute."""

_SHAPE = re.compile(r"`*(?::| is| are| has| have| of)?(?: shape)?\s+`*\([^()]*\)")
"""Matches the shape behind a name."""


def parameter_names(function: Any) -> tuple[str, ...]:
    """The names of the arguments of forward, or of a callable; none if they are not known."""
    try:
        return tuple(inspect.signature(forward_of(function)).parameters)
    except (TypeError, ValueError):
        return ()


def with_names_as_given(text: str, names: Collection[str]) -> str:
    """Return a text in which ``RGB (N, 3)`` is about the argument `rgb`, if there is no `RGB`.

    In mathematics ``W`` and ``w`` are two things, so that a single letter counts only if the text
    states the shape of the one, and does not mention the other. ``F (E, 2, 2)`` is about `Fm` if
    the text does not mention that, and no other name begins so.
    """
    words = {*re.findall(r"\w+", text)}
    lower = [name.lower() for name in names]
    free = {name.lower(): name for name in names if lower.count(name.lower()) == 1}
    free = {key: name for key, name in free.items() if len(name) > 1 or name not in words}
    return _WORD.sub(partial(_as_given, free, names, words), text) if free else text


def _as_given(
    free: Mapping[str, str], names: Collection[str], words: Collection[str], match: re.Match[str]
) -> str:
    word = match[0]
    if word in names:
        return word
    has_shape = _SHAPE.match(match.string, match.end())
    if word.lower() in free:
        return free[word.lower()] if has_shape or len(word) > 1 else word
    begun = [name for name in names if name.startswith(word)]
    return begun[0] if has_shape and len(begun) == 1 and begun[0] not in words else word

"""CuPy's names and signatures, which calls are checked against.

They come from the installed CuPy, or else from the record next to this file.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.device.write_cupy_facts import facts_of

PATH = Path(__file__).with_name("cupy_facts.json")


@functools.cache
def facts() -> dict[str, Any]:
    """Return the facts of the installed CuPy, or the recorded ones."""
    return recorded() if INSTALLED is None else facts_of(INSTALLED)


def recorded() -> dict[str, Any]:
    """The record that `write_cupy_facts.py` made."""
    found: dict[str, Any] = json.loads(PATH.read_text())
    return found


def installed_cupy() -> ModuleType | None:
    """The real CuPy, which imports without a driver; None where it is not installed."""
    return None if importlib.util.find_spec("cupy") is None else importlib.import_module("cupy")


INSTALLED = installed_cupy()


@functools.cache
def read_signature(text: str) -> inspect.Signature:
    """The signature that a line such as ``a, axis=, /, *, out=`` states."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters: list[inspect.Parameter] = []
    for word in filter(None, text.split(", ")):
        if word == "/":
            parameters = [each.replace(kind=each.POSITIONAL_ONLY) for each in parameters]
        elif word == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
        elif word.startswith("**"):
            parameters.append(inspect.Parameter(word[2:], inspect.Parameter.VAR_KEYWORD))
        elif word.startswith("*"):
            parameters.append(inspect.Parameter(word[1:], inspect.Parameter.VAR_POSITIONAL))
            kind = inspect.Parameter.KEYWORD_ONLY
        else:
            name, equals, _ = word.partition("=")
            default = None if equals else inspect.Parameter.empty
            parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)


def hold_to(text: str, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Assert that a call fits a signature on record."""
    try:
        read_signature(text).bind(*args, **kwargs)
    except TypeError as error:
        raise AssertionError(f"CuPy's {name}({text}) {error}: {args} {dict(kwargs)}") from None

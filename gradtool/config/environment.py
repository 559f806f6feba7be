"""Environment variables that give values of the configuration: ``GRADTOOL_TIMEOUT=120``."""

from __future__ import annotations

from collections.abc import Mapping

from gradtool.config.schema import Defaults
from gradtool.errors import UsageError
from gradtool.spelling import nearest

_PREFIX = "GRADTOOL_"
_MISSPELT = 0.8
"""Similarity to a key that a name must have: the prefix is open to others' variables."""

VARIABLES = {f"{_PREFIX}{key.upper()}": key for key in Defaults.__struct_fields__}
"""The key of ``check`` for each variable."""


def of_environment(environment: Mapping[str, str]) -> tuple[str, ...]:
    """List ``GRADTOOL_TIMEOUT=120`` for each variable that is set and not empty.

    Raises:
        UsageError: A name looks like a misspelt key.
    """
    for name in environment:
        _require_known(name)
    return tuple(f"{name}={environment[name]}" for name in VARIABLES if environment.get(name))


def _require_known(name: str) -> None:
    if name in VARIABLES or not name.startswith(_PREFIX):
        return
    key = nearest(name.removeprefix(_PREFIX), VARIABLES.values(), _MISSPELT)
    if key is not None:
        suggestion = f"{_PREFIX}{key.upper()}"
        raise UsageError(
            f"{name} is not a variable that gradtool reads (did you mean {suggestion!r}?)"
        )


def as_pair(variable: str) -> str:
    """The equivalent ``KEY=VALUE`` of ``--config``."""
    name, _, value = variable.partition("=")
    return f"check.{VARIABLES[name]}={value}"

"""Environment variables that give values of the configuration: ``GRADTOOL_TIMEOUT=120``."""

from __future__ import annotations

from collections.abc import Mapping

from gradtool.gate.config_format import Defaults

VARIABLES = {f"GRADTOOL_{key.upper()}": key for key in Defaults.__struct_fields__}
"""The key of ``check`` that each variable gives."""


def of_environment(environment: Mapping[str, str]) -> tuple[str, ...]:
    """``GRADTOOL_TIMEOUT=120`` for each variable that is set and not empty."""
    return tuple(f"{name}={environment[name]}" for name in VARIABLES if environment.get(name))


def as_pair(variable: str) -> str:
    """The ``KEY=VALUE`` of ``--config`` that says the same."""
    name, _, value = variable.partition("=")
    return f"check.{VARIABLES[name]}={value}"

"""Cases as the lines of a configuration file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import yaml

from gradtool.config.decoding import decode
from gradtool.config.schema import CaseConfig, File
from gradtool.config.yaml import parse_document
from gradtool.errors import UsageError

_WIDE = 10_000
"""Columns after which a line is broken: never, so that a flow sequence stays on its line."""


def written_section(key: str, cases: Sequence[CaseConfig | None]) -> str | None:
    """Write the lines of one Function; None when YAML cannot say what its cases are."""
    given = [case for case in cases if case is not None]
    if not given or len(given) < len(cases):
        return None
    try:
        written = (line for case in given for line in case_lines(case, "      "))
        lines = [f"  {quoted(key)}:", "    cases:", *written]
    except (TypeError, ValueError, yaml.YAMLError):
        return None
    text = "\n".join(lines) + "\n"
    return text if _reads_as(text, key, given) else None


def case_lines(case: CaseConfig, indent: str) -> Iterator[str]:
    """Yield the lines of a case as an entry of a list.

    Raises:
        TypeError, ValueError, yaml.YAMLError: YAML has no such value.
    """
    lead = f"{indent}- "
    for key, value in msgspec.to_builtins(_ordered(case)).items():
        yield f"{lead}{key}: {_flow(value)}"
        lead = f"{indent}  "


def quoted(key: str) -> str:
    """Write a key: a JSON string is YAML too, where ``::`` and ``#`` would not be."""
    return json.dumps(key, ensure_ascii=False)


def _ordered(case: CaseConfig) -> dict[str, Any]:
    """The fields of a case, its name first."""
    names = ("name", "args", "kwargs", "atol", "rtol")
    given = {name: getattr(case, name) for name in names}
    return {key: value for key, value in given.items() if value not in (None, {})}


def _flow(value: Any) -> str:
    # A scalar alone is dumped with a document end, which the lines around it cannot have.
    text: str = yaml.safe_dump(value, default_flow_style=True, width=_WIDE, sort_keys=False)
    return text.removesuffix("...\n").strip()


def _reads_as(text: str, key: str, cases: Sequence[CaseConfig]) -> bool:
    """Return True if the lines decode to these cases: a tuple would come back as a list."""
    try:
        file = decode(parse_document(f"version: 1\nfunctions:\n{text}", "the cases"), File)
    except UsageError:
        return False
    return list(file.functions[key].cases) == list(cases)

"""A report as JSON: the result model as it is, with its schema version and a summary.

JSON has no complex numbers, infinities or NaN, so such values appear as their text.
A field that has its default value is left out, apart from the schema version.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from gradtool.report.summary import summarize
from gradtool.results import Report


def render(report: Report) -> str:
    """The report as indented JSON that decodes to an equal `Report`."""
    document = {
        "schema": report.schema,
        **_builtins(report),
        "summary": _builtins(summarize(report)),
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _builtins(value: msgspec.Struct) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(value, enc_hook=_scalar)
    return {key: _representable(entry) for key, entry in plain.items()}


def _scalar(value: Any) -> Any:
    """A complex number as its text; an array library's scalar as Python's."""
    return str(value) if isinstance(value, complex) else value.item()


def _representable(value: Any) -> Any:
    """The value with every infinity, NaN and lone surrogate in it replaced by its text."""
    if isinstance(value, dict):
        return {key: _representable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_representable(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value

"""A report as JSON: the result model as it is, with its schema version and a summary.

JSON has no complex numbers, infinities or NaN, so such values appear as their text.
A field that has its default value is left out, apart from the schema version.
"""

from __future__ import annotations

import math
import re
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from gradtool.report.reasons import skip_reason
from gradtool.report.summary import Summary, summarize
from gradtool.results.report import SCHEMA_VERSION, Report, Skip


def render(report: Report) -> str:
    """The report as indented JSON that decodes to an equal `Report`."""
    document = {
        "schema": report.schema,
        **builtins_of(report),
        "summary": builtins_of(summarize(report)),
    }
    return _FLAT_ARRAY.sub(_on_one_line, indented(document))


def indented(document: object) -> str:
    """The text of a JSON file."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


_FLAT_ARRAY = re.compile(r"\[\n *((?:[^\[\]{}\n ][^\[\]{}\n]*\n *)+)\]")
"""An array of scalars. A line break is never part of a JSON string, so no text can match."""


def _on_one_line(array: re.Match[str]) -> str:
    """A row of a matrix as a row, not as a column of the file."""
    return f"[{' '.join(line.strip() for line in array[1].splitlines())}]"


def builtins_of(value: msgspec.Struct) -> dict[str, Any]:
    """The fields of a struct as values that JSON has."""
    plain: dict[str, Any] = msgspec.to_builtins(value, enc_hook=_scalar)
    return {key: _representable(entry) for key, entry in plain.items()}


def _scalar(value: Any) -> Any:
    """A complex number as its text; an array library's scalar as Python's."""
    return str(value) if isinstance(value, complex) else value.item()


def _in_words(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a check with the words for why it was skipped; others as they are."""
    if not isinstance(fields.get("skip"), dict):
        return fields
    words = skip_reason(msgspec.convert(fields["skip"], Skip))
    return {"rule": fields["rule"], "verdict": fields["verdict"], "reason": words, **fields}


def _representable(value: Any) -> Any:
    """The value with every infinity, NaN and lone surrogate in it replaced by its text."""
    if isinstance(value, dict):
        return {key: _representable(entry) for key, entry in _in_words(value).items()}
    if isinstance(value, list | tuple):
        return [_representable(entry) for entry in value]
    # msgspec would write null for all of these.
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        # Lone surrogates come from file names that are not UTF-8, and cannot be encoded.
        return value.encode("utf-8", "backslashreplace").decode()
    return value


SCHEMA_FILE = Path(__file__).parents[1] / "schemas" / f"report-{SCHEMA_VERSION}.schema.json"
"""The published schema of the present version."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Document(Report, frozen=True, kw_only=True):
    """A report as written: always with its version, and with a summary."""

    summary: Summary


def published_schema() -> str:
    """The text of the schema that this version of gradtool writes reports by."""
    return SCHEMA_FILE.read_text(encoding="utf-8")


def generated_schema() -> str:
    """The schema that the types generate; `published_schema` must equal it."""
    return schema_text(Document, "gradtool report", SCHEMA_VERSION)


def schema_text(kind: type[msgspec.Struct], title: str, version: int) -> str:
    """The schema of a kind of document, each of which states its version."""
    schema = msgspec.json.schema(kind)
    state_version(schema["$defs"][kind.__name__], version)
    return titled(schema, title, version)


def state_version(definition: dict[str, Any], version: int) -> None:
    """Make a definition of a schema require its version."""
    definition["properties"]["schema"] = {"const": version}
    definition["required"] = ["schema", *definition["required"]]


def titled(schema: dict[str, Any], title: str, version: int) -> str:
    """The text of a schema as it is published."""
    described = _without_indentation(schema)
    return indented({"$schema": _DIALECT, "title": f"{title}, version {version}", **described})


def _without_indentation(node: Any) -> Any:
    """The schema with each description as a docstring is read, which only newer msgspecs do."""
    if isinstance(node, list):
        return [_without_indentation(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {name: _without_indentation(each) for name, each in node.items()}
    if isinstance(found.get("description"), str):
        found["description"] = cleandoc(found["description"])
    return found

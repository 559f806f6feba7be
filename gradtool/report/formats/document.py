"""The JSON document of a run, and the schema that it is published with.

The schema in ``schemas/`` is what ``gradtool schema report`` prints. It is generated from the
types, and a test holds the file against them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gradtool.report.summary import Summary
from gradtool.results.report import SCHEMA_VERSION, Report

SCHEMA_FILE = Path(__file__).parents[1] / "schemas" / f"report-{SCHEMA_VERSION}.schema.json"
"""The published schema of the present version."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Document(Report, frozen=True, kw_only=True):
    """A report as it is written: with its version always there, and a summary."""

    summary: Summary


def published_schema() -> str:
    """The text of the schema that this version of gradtool writes reports by."""
    return SCHEMA_FILE.read_text(encoding="utf-8")


def generated_schema() -> str:
    """The schema as the types say it; what `published_schema` must be equal to."""
    return schema_text(Document, "gradtool report", SCHEMA_VERSION)


def schema_text(kind: type[msgspec.Struct], title: str, version: int) -> str:
    """The schema of a kind of document of which each says its version."""
    schema = msgspec.json.schema(kind)
    state_version(schema["$defs"][kind.__name__], version)
    return titled(schema, title, version)


def state_version(definition: dict[str, Any], version: int) -> None:
    """Have what a schema defines say its version."""
    definition["properties"]["schema"] = {"const": version}
    definition["required"] = ["schema", *definition["required"]]


def titled(schema: dict[str, Any], title: str, version: int) -> str:
    """The text of a schema as it is published."""
    document = {"$schema": _DIALECT, "title": f"{title}, version {version}", **schema}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"

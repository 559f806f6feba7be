"""The JSON document of a report, and its published schema.

The schema is what ``gradtool schema transfer`` prints. It is generated from the types; a
test compares the file with them.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gradtool.report.formats.json import indented, schema_text
from gradtool.results.transfer import SCHEMA_VERSION, TransferReport

SCHEMA_FILE = Path(__file__).parents[1] / "schemas" / f"transfer-{SCHEMA_VERSION}.schema.json"
"""The published schema of this version."""


def render(report: TransferReport) -> str:
    """The report as indented JSON that decodes to an equal `TransferReport`."""
    return indented({"schema": report.schema, "kind": report.kind, **msgspec.to_builtins(report)})


def published_schema() -> str:
    """The schema of the documents that this version of gradtool writes."""
    return SCHEMA_FILE.read_text(encoding="utf-8")


def generated_schema() -> str:
    """The schema of the types, to which `published_schema` must be equal."""
    return schema_text(TransferReport, "gradtool transfer profile", SCHEMA_VERSION)

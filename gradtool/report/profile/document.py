"""The JSON document of a report, and its published schema.

The schema is what ``gradtool schema profile`` prints. It is generated from the types; a
test compares the file with them.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gradtool.report.formats.json import indented, schema_text
from gradtool.results.profile import SCHEMA_VERSION, ProfileReport

SCHEMA_FILE = Path(__file__).parents[1] / "schemas" / f"profile-{SCHEMA_VERSION}.schema.json"
"""The published schema of this version."""


def render(report: ProfileReport) -> str:
    """The report as indented JSON that decodes to an equal `ProfileReport`."""
    return indented({"schema": report.schema, **msgspec.to_builtins(report)})


def published_schema() -> str:
    """The schema of the documents that this version of gradtool writes."""
    return SCHEMA_FILE.read_text(encoding="utf-8")


def generated_schema() -> str:
    """The schema of the types, to which `published_schema` must be equal."""
    return schema_text(ProfileReport, "gradtool profile", SCHEMA_VERSION)

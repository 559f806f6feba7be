"""The JSON document of a profile, and the schema that it is published with.

The schema is what ``gradtool schema profile`` prints. It is generated from the types, and a
test holds the file against them.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gradtool.report.formats.json import schema_text
from gradtool.results.profile import SCHEMA_VERSION, ProfileReport

SCHEMA_FILE = Path(__file__).parents[1] / "schemas" / f"profile-{SCHEMA_VERSION}.schema.json"
"""The published schema of the present version."""


def render(report: ProfileReport) -> str:
    """The report as indented JSON that decodes to an equal `ProfileReport`."""
    document = {"schema": report.schema, **msgspec.to_builtins(report)}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def published_schema() -> str:
    """The text of the schema that this version of gradtool writes by."""
    return SCHEMA_FILE.read_text(encoding="utf-8")


def generated_schema() -> str:
    """The schema as the types say it; what `published_schema` must be equal to."""
    return schema_text(ProfileReport, "gradtool profile", SCHEMA_VERSION)

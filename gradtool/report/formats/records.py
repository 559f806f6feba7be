"""The records of a report as JSON Lines, and the schema that they are published with.

They are made of the types of the JSON report, so a field means the same in both. The schema is
what ``gradtool schema json-lines`` prints: each line obeys it. It is generated from the types,
and a test holds the file against them.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gradtool.report.formats.document import Document, state_version, titled
from gradtool.results.evidence import Struct
from gradtool.results.report import (
    SCHEMA_VERSION,
    CaseResult,
    CheckResult,
    Cost,
    Finding,
    FunctionResult,
    Location,
    ModuleResult,
    Verdict,
)

SCHEMA_FILE = Path(__file__).parents[1] / "schemas" / f"json-lines-{SCHEMA_VERSION}.schema.json"
"""The published schema of the present version."""


class RunRecord(Document, frozen=True, kw_only=True, tag_field="record", tag="run"):
    """The run as a whole: the JSON report without its modules."""


class CaseRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="case"):
    """What the summary counts: a case, or a Function or module that broke before any case."""

    node_id: str
    path: str
    """Of the module."""
    function: str | None = None
    """None for a module as a whole."""
    case: str | None = None
    """None for a Function or a module as a whole."""
    location: Location
    verdict: Verdict
    """As the gate counts it: severities, ``--strict`` and the baseline are weighed in."""
    declared: tuple[str, ...] = ()
    """What the Function declares about itself."""
    arguments: tuple[str, ...] = ()
    source: str = ""
    """Where the arguments come from."""
    checks: tuple[CheckResult, ...] = ()
    """Without their findings, which have records of their own."""
    cost: Cost = Cost()
    seconds: float = 0.0


class FindingRecord(Finding, frozen=True, kw_only=True, tag_field="record", tag="finding"):
    """One finding."""

    fingerprint: str
    """The same as long as the finding is: no two of a report are alike."""


Record = RunRecord | CaseRecord | FindingRecord


def published_schema() -> str:
    """The text of the schema that this version of gradtool writes lines by."""
    return SCHEMA_FILE.read_text(encoding="utf-8")


def generated_schema() -> str:
    """The schema as the types say it; what `published_schema` must be equal to."""
    schema = msgspec.json.schema(Record)
    for kind in (RunRecord, CaseRecord, FindingRecord):
        state_version(schema["$defs"][kind.__name__], SCHEMA_VERSION)
    # A run leaves its modules to the other records, and nothing else is made of them.
    del schema["$defs"][RunRecord.__name__]["properties"]["modules"]
    for unused in (ModuleResult, FunctionResult, CaseResult):
        del schema["$defs"][unused.__name__]
    return titled(schema, "a line of a gradtool report", SCHEMA_VERSION)

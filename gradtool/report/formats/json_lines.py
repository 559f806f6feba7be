"""A report as JSON Lines: one record a line, for log collectors, ``grep`` and ``jq``.

The first line is about the run, then there is one for each case, and one for each finding. Every
line names its record type and the version of its schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from gradtool.report.findings import problems
from gradtool.report.formats.json import Document, builtins_of, state_version, titled
from gradtool.report.rows import Row, rows
from gradtool.report.summary import summarize
from gradtool.results.evidence import Struct
from gradtool.results.fingerprint import fingerprints
from gradtool.results.report import (
    SCHEMA_VERSION,
    CaseResult,
    CheckResult,
    Cost,
    Coverage,
    Finding,
    FunctionResult,
    Location,
    ModuleResult,
    Report,
    Verdict,
)

_BREAKS = str.maketrans({code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)})
"""Characters that some readers take for line breaks. In JSON they occur only in strings."""


def render(report: Report) -> str:
    """The records of the report, one a line."""
    return "".join(_line(record, report.schema) for record in records(report))


def records(report: Report) -> Iterator[Record]:
    """The run, its cases, and its findings with those of the baseline."""
    fields = {**msgspec.structs.asdict(report), "modules": (), "summary": summarize(report)}
    yield RunRecord(**fields)
    yield from map(_case, rows(report))
    found = list(problems(report, known=True))
    for finding, print_ in zip(found, fingerprints(found), strict=True):
        yield FindingRecord(**msgspec.structs.asdict(finding), fingerprint=print_)


def _case(row: Row) -> CaseRecord:
    case = row.case or CaseResult(name="")
    return CaseRecord(
        node_id=row.node_id,
        path=row.module.path,
        function=row.function.name if row.function else None,
        case=row.case.name if row.case else None,
        location=row.location,
        verdict=row.verdict,
        declared=row.function.declared if row.function else (),
        arguments=case.arguments,
        source=case.source,
        checks=tuple(map(_without_findings, row.checks)),
        coverage=row.coverage,
        cost=case.cost,
        seconds=case.seconds,
    )


def _without_findings(check: CheckResult) -> CheckResult:
    return msgspec.structs.replace(check, findings=())


def _line(record: Record, schema: int) -> str:
    kind = record.__struct_config__.tag
    fields = {"record": kind, "schema": schema, **builtins_of(record)}
    return msgspec.json.encode(fields).decode().translate(_BREAKS) + "\n"


SCHEMA_FILE = Path(__file__).parents[1] / "schemas" / f"json-lines-{SCHEMA_VERSION}.schema.json"
"""The published schema of the present version."""


class RunRecord(Document, frozen=True, kw_only=True, tag_field="record", tag="run"):
    """The entire run: the JSON report without its modules."""


class CaseRecord(Struct, frozen=True, kw_only=True, tag_field="record", tag="case"):
    """A case, or a Function or module that broke before any case, as the summary counts them."""

    node_id: str
    path: str
    """Of the module."""
    function: str | None = None
    """None for a module as a whole."""
    case: str | None = None
    """None for a Function or a module as a whole."""
    location: Location
    verdict: Verdict
    """As the exit status counts it, with severities, ``--strict`` and the baseline."""
    declared: tuple[str, ...] = ()
    """What the Function declares about itself."""
    arguments: tuple[str, ...] = ()
    source: str = ""
    """Where the arguments come from."""
    checks: tuple[CheckResult, ...] = ()
    """Without their findings, which have records of their own."""
    coverage: Coverage | None = None
    """Of the Function, in the record of its last case."""
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
    """The schema that the types generate; `published_schema` must equal it."""
    schema = msgspec.json.schema(Record)
    for kind in (RunRecord, CaseRecord, FindingRecord):
        state_version(schema["$defs"][kind.__name__], SCHEMA_VERSION)
    # A run leaves its modules to the other records, and nothing else is made of them.
    del schema["$defs"][RunRecord.__name__]["properties"]["modules"]
    for unused in (ModuleResult, FunctionResult, CaseResult):
        del schema["$defs"][unused.__name__]
    return titled(schema, "a line of a gradtool report", SCHEMA_VERSION)

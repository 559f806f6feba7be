"""A report as JSON Lines: one record a line, for log collectors, ``grep`` and ``jq``.

The first line tells of the run; then each case has one, and then each finding. Every line says
which record it is and by which version of the schema it is written.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gradtool.report.formats.json import builtins_of
from gradtool.report.formats.records import CaseRecord, FindingRecord, Record, RunRecord
from gradtool.report.problems import problems
from gradtool.report.rows import Row, rows
from gradtool.report.summary import summarize
from gradtool.results.fingerprint import fingerprints
from gradtool.results.report import CaseResult, CheckResult, Report

_BREAKS = str.maketrans({code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)})
"""What some readers take for the end of a line. In JSON it can only be part of a string."""


def render(report: Report) -> str:
    """The records of the report, one a line."""
    return "".join(_line(record, report.schema) for record in records(report))


def records(report: Report) -> Iterator[Record]:
    """The run, its cases, and its findings with those of the baseline."""
    told = {**msgspec.structs.asdict(report), "modules": (), "summary": summarize(report)}
    yield RunRecord(**told)
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
        cost=case.cost,
        seconds=case.seconds,
    )


def _without_findings(check: CheckResult) -> CheckResult:
    return msgspec.structs.replace(check, findings=())


def _line(record: Record, schema: int) -> str:
    kind = record.__struct_config__.tag
    fields = {"record": kind, "schema": schema, **builtins_of(record)}
    return msgspec.json.encode(fields).decode().translate(_BREAKS) + "\n"

"""A report as Markdown: for the summary of a GitHub Actions step, a comment or a file.

GitHub refuses a step summary above 1 MiB, so findings that would not fit are counted instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradtool.report.findings import advice, margin, place, problems, title, worst_first
from gradtool.report.rows import Row, rows
from gradtool.report.summary import (
    counts,
    opening,
    remarks,
    seeds,
    summarize,
    unchecked_lines,
)
from gradtool.report.verdicts import STOPPING
from gradtool.report.words import duration, one_line, printable
from gradtool.results.report import Finding, Report, Severity, Verdict
from gradtool.spelling import plural

MOST_BYTES = 900_000
"""Of a whole report; what else a step writes to its summary has to fit as well."""

_MARKS = {
    Verdict.PASS: "✅ pass",
    Verdict.FAIL: "❌ **FAIL**",
    Verdict.UNVERIFIED: "❓ **UNVERIFIED**",
    Verdict.ERROR: "💥 **ERROR**",
    Verdict.KNOWN: "known",
    Verdict.SKIPPED: "skipped",
}

_SPECIAL = frozenset(r"\*_{}[]<>#|~$")


def render(report: Report) -> str:
    """Heading, counts, a table of the cases and a section for each finding."""
    listed = list(rows(report))
    head = "\n".join([*_head(report), "", *_table(listed)]).strip() + "\n"
    if len(head.encode()) > MOST_BYTES:
        head = "\n".join([*_head(report), "", *_table(_stopping(listed)[:_MOST_ROWS])]) + "\n"
    return head + "".join(_within(MOST_BYTES - len(head.encode()), _sections(report)))


_MOST_ROWS = 1000
"""Of a table that would not fit with all of them; only what failed the run is in it."""


def _stopping(listed: list[Row]) -> list[Row]:
    return [row for row in listed if row.verdict in STOPPING]


def _head(report: Report) -> Iterator[str]:
    summary = summarize(report)
    counted = ", ".join(text for _, text in counts(summary))
    ran_on = report.environment
    yield "## gradtool"
    yield ""
    took = duration(report.seconds)
    yield escaped(f"{opening(report, summary)} in {took}: {counted}{remarks(summary)}")
    yield ""
    yield from _unchecked(*unchecked_lines(report, summary))
    yield ""
    yield escaped(
        f"gradtool {ran_on.gradtool}, {ran_on.engine} engine, {ran_on.device}, "
        f"seed {seeds(report)}, NumPy {ran_on.numpy}, Python {ran_on.python}"
    )
    if report.notices:
        yield ""
        yield from (f"- {escaped(one_line(notice))}" for notice in report.notices)


def _unchecked(line: str, phrases: tuple[str, ...]) -> Iterator[str]:
    yield escaped(line)
    if phrases:
        yield ""
        yield from (f"- {escaped(phrase)}" for phrase in phrases)


def _table(listed: list[Row]) -> Iterator[str]:
    if listed:
        yield "| verdict | case | forward | backward | time |"
        yield "|---|---|--:|--:|--:|"
        yield from map(_table_row, listed)


def _table_row(row: Row) -> str:
    cells = [_MARKS[row.verdict], _code(row.node_id).replace("|", r"\|")]
    if row.case is None:
        cells += ["", "", ""]
    else:
        cost = row.case.cost
        cells += [str(cost.forward), str(cost.backward), duration(row.case.seconds)]
    return f"| {' | '.join(cells)} |"


def _sections(report: Report) -> list[str]:
    """The errors and warnings in full; the notes as a list."""
    found = worst_first(problems(report))
    sections = [_section(finding) for finding in found if finding.severity is not Severity.NOTE]
    notes = [finding for finding in found if finding.severity is Severity.NOTE]
    return [*sections, *map(_note, notes)]


def _section(finding: Finding) -> str:
    kind = finding.severity.value
    lines = [f"\n### {escaped(f'{kind} {title(finding)}')}\n"]
    lines += [f"{_code(place(finding.location))}: {escaped(one_line(finding.message))}\n"]
    lines += _code_block(finding)
    if finding.evidence is not None:
        lines += [f"- {label}: {_code(text.strip())}" for label, text in margin(finding.evidence)]
    for label, text in advice(finding):
        said, *code = text.split("\n")
        lines.append(f"- {label}: {escaped(said) if label in ('hint', 'case') else _code(said)}")
        lines += [f"  {line}" for line in _fenced(code)]
    return "\n".join(lines) + "\n"


def _fenced(lines: Sequence[str], language: str = "") -> Iterator[str]:
    if lines:
        # Longer than any run of backticks in the code, which would close the block.
        fence = "`" * (3 + max(line.count("`") for line in lines))
        yield f"{fence}{language}"
        yield from lines
        yield fence


def _code_block(finding: Finding) -> Iterator[str]:
    if finding.source is not None:
        numbered = enumerate(finding.source.lines, finding.source.first)
        lines = [
            f"{'>' if number == finding.location.line else ' '} {number:4}  {printable(line)}"
            for number, line in numbered
        ]
        yield from _fenced(lines, "python")
        yield ""


def _note(finding: Finding) -> str:
    where = _code(place(finding.location))
    return f"\n- {where}: note {escaped(title(finding))}: {escaped(one_line(finding.message))}"


def _within(room: int, sections: list[str]) -> Iterator[str]:
    """As many sections as fit, and a line that counts the others."""
    for index, section in enumerate(sections):
        # The limit is in bytes.
        room -= len(section.encode())
        if room < 0:
            left = plural(len(sections) - index, "finding")
            yield f"\n{left} more did not fit here; see the other reports.\n"
            return
        yield section


def _code(text: str) -> str:
    """A code span. The fence is longer than any run of backticks in the text."""
    text = printable(text)
    fence = "`" * (text.count("`") + 1)
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def escaped(text: str) -> str:
    """The text with nothing in it that Markdown reads as markup, apart from pairs of backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return r"\`".join(map(_escaped, parts))
    return "`".join(part if i % 2 else _escaped(part) for i, part in enumerate(parts))


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in _SPECIAL else c for c in text)

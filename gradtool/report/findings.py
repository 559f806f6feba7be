"""What several renderers ask of findings: their order, their rule, and their words as one text."""

from __future__ import annotations

from collections.abc import Iterable

from gradtool.report.evidence import margin
from gradtool.report.formats.concise import place
from gradtool.report.words import one_line, printable
from gradtool.results.report import Finding, Report, RuleInfo, Severity

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Errors, then warnings, then notes; each in the order in which they were found."""
    return sorted(findings, key=lambda finding: _RANK[finding.severity])


def rules_by_code(report: Report) -> dict[str, RuleInfo]:
    """The rules that the report tells of."""
    return {rule.code: rule for rule in report.rules}


def title(finding: Finding) -> str:
    """``GT101 wrong-gradient in Linear[with-bias]``."""
    return f"{finding.rule} {finding.name} in {subject(finding)}"


def subject(finding: Finding) -> str:
    """``Function[case]``, or the module where the finding is of it as a whole."""
    owner = finding.node_id.removesuffix(f"::{finding.rule}")
    return printable(owner.rsplit("::", 1)[-1])


def as_text(finding: Finding) -> str:
    """Everything a person needs, in lines without markup."""
    lines = [f"{place(finding.location)}: {finding.severity.value} {title(finding)}"]
    lines.append(one_line(finding.message))
    if finding.evidence is not None:
        lines += [f"  {label}: {text.strip()}" for label, text in margin(finding.evidence)]
    lines += [f"{label}: {text}" for label, text in advice(finding)]
    if finding.detail:
        lines += [printable(line) for line in finding.detail.rstrip().splitlines()]
    return "\n".join(lines)


def advice(finding: Finding) -> list[tuple[str, str]]:
    """What to do about it and how to see it again, as labelled lines."""
    pairs = [("hint", finding.hint and one_line(finding.hint))]
    pairs.append(("replay", finding.replay and printable(finding.replay)))
    return [(label, text) for label, text in pairs if text]

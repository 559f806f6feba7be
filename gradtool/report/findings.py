"""Findings as every format needs them: their selection, order and text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from gradtool.report.verdicts import STOPPING
from gradtool.report.words import (
    is_nan,
    magnitude,
    number,
    one_line,
    printable,
    with_code_lines,
)
from gradtool.results.report import (
    CheckResult,
    Evidence,
    Finding,
    Location,
    ModuleResult,
    Report,
    RuleInfo,
    Severity,
)
from gradtool.spelling import plural


def problems(report: Report, *, known: bool = False) -> Iterator[Finding]:
    """Every finding, and one for each stopping check that has none, the worst of a module first.

    Those that a baseline has are among them only if `known` says so.
    """
    found = chain.from_iterable(worst_first(_of_module(module)) for module in report.modules)
    return (finding for finding in found if known or not finding.known)


def _of_module(module: ModuleResult) -> Iterator[Finding]:
    yield from check_findings(module.checks, module.path, Location(path=module.path))
    for function in module.functions:
        name = f"{module.path}::{function.name}"
        yield from check_findings(function.checks, name, function.location)
        for case in function.cases:
            yield from check_findings(case.checks, f"{name}[{case.name}]", function.location)


def check_findings(
    checks: tuple[CheckResult, ...], owner: str, location: Location
) -> Iterator[Finding]:
    """The findings of some checks, and one for each that fails the run without any."""
    for check in checks:
        if check.findings:
            yield from check.findings
        elif check.verdict in STOPPING:
            yield _finding(check, owner, location)


def _finding(check: CheckResult, owner: str, location: Location) -> Finding:
    return Finding(
        rule=check.rule,
        name=check.verdict.value,
        severity=Severity.ERROR,
        node_id=f"{owner}::{check.rule}",
        message=check.reason or "no reason was given",
        location=location,
    )


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return errors, then warnings, then notes; each in the order in which they were found."""
    return sorted(findings, key=lambda finding: _RANK[finding.severity])


def rules_by_code(report: Report) -> dict[str, RuleInfo]:
    """The rules that the report describes, by code."""
    return {rule.code: rule for rule in report.rules}


def title(finding: Finding) -> str:
    """``GT101 wrong-gradient in Linear[with-bias]``."""
    return f"{finding.rule} {finding.name} in {subject(finding)}"


def subject(finding: Finding) -> str:
    """``Function[case]``, or the module if the finding is about all of it."""
    owner = finding.node_id.removesuffix(f"::{finding.rule}")
    return printable(owner.rsplit("::", 1)[-1])


_CODE = "\n    "
"""Indent of each line of code to paste: that of the body of a class."""


def as_text(finding: Finding) -> str:
    """Everything a person needs, in lines without markup."""
    lines = [f"{place(finding.location)}: {finding.severity.value} {title(finding)}"]
    lines.append(one_line(finding.message))
    if finding.evidence is not None:
        lines += [f"  {label}: {text.strip()}" for label, text in margin(finding.evidence)]
    lines += [f"{label}: {text}".replace("\n", _CODE) for label, text in advice(finding)]
    if finding.detail:
        lines += [printable(line) for line in finding.detail.rstrip().splitlines()]
    return "\n".join(lines)


def advice(finding: Finding) -> list[tuple[str, str]]:
    """Hint and commands, as labelled lines."""
    pairs = [("hint", finding.hint and with_code_lines(finding.hint))]
    pairs.append(("replay", finding.replay and printable(finding.replay)))
    pairs.append(("repair", finding.repair and printable(finding.repair)))
    pairs.append(("case", finding.case and case_to_keep(finding.case)))
    pairs.append(("explain", explain_command(finding)))
    return [(label, text) for label, text in pairs if text]


def case_to_keep(entry: str) -> str:
    """Say where the entry of a case goes, and the entry alone on a line of its own."""
    return f"in gradtool.yaml, under functions:\n{printable(entry)}"


def explain_command(finding: Finding) -> str:
    """The command that prints the page of the finding's rule."""
    return f"gradtool explain {finding.rule}"


def evidence_lines(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Label and text of each line: the values, their difference, where, and how many."""
    yield from _values(evidence)
    yield from margin(evidence)
    where = _where(evidence)
    if where:
        yield "worst at", where
    if evidence.wrong is not None:
        yield "wrong", _share(evidence.wrong, evidence.compared)


def margin(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """The difference of the values and its tolerance, which no message has."""
    if evidence.difference is not None and not is_nan(evidence.difference):
        yield (
            "difference",
            magnitude(evidence.difference) + _sized(", tolerance", evidence.tolerance),
        )


def _values(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """The analytic and the exact or numeric value, with their digits under each other."""
    other = "exact" if evidence.error == 0 else "numeric"
    pairs = (("analytic", evidence.analytic), (other, evidence.numeric))
    texts = {label: number(value) for label, value in pairs if value is not None}
    signed = any(text.startswith("-") for text in texts.values())
    for label, text in texts.items():
        lead = " " if signed and not text.startswith("-") else ""
        if is_nan(text) and label != "analytic":
            yield label, f"{lead}unknown"
        else:
            error = _sized(" ±", evidence.error) if label == "numeric" else ""
            yield label, lead + text + error


def _sized(words: str, size: float | str | None) -> str:
    """The words and a size; nothing where the size is not known."""
    return "" if size is None or is_nan(size) else f"{words} {magnitude(size)}"


def _where(evidence: Evidence) -> str:
    parts = []
    if evidence.output is not None:
        of = evidence.gradient_of
        name = f"grad {of}" if of else f"output {evidence.output}"
        parts.append(f"{name}{_index(evidence.output_index)}")
    if evidence.argument is not None:
        parts.append(f"{evidence.argument}{_index(evidence.input_index)}")
    return " with respect to ".join(parts)


def _index(index: tuple[int, ...] | None) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


def _share(wrong: int, compared: int | None) -> str:
    if compared is None:
        return plural(wrong, "entry", "entries")
    return f"{wrong} of {plural(compared, 'entry', 'entries')}"


def place(location: Location) -> str:
    """``file:line``, or the file alone where no line is known."""
    path = printable(location.path)
    return path if location.line is None else f"{path}:{location.line}"

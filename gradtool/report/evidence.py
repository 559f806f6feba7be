"""The arithmetic behind a finding, as labelled lines that any renderer can set."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.report.words import magnitude, number, plural
from gradtool.results import Evidence


def evidence_lines(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Label and text of each line: the values, their difference, where, and how many."""
    yield from _values(evidence)
    if evidence.difference is not None:
        yield "difference", _against(evidence.difference, evidence.tolerance)
    where = _where(evidence)
    if where:
        yield "worst at", where
    if evidence.wrong is not None:
        yield "wrong", _share(evidence.wrong, evidence.compared)


def _values(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """The analytic and the numeric value, with their digits under each other."""
    pairs = (("analytic", evidence.analytic), ("numeric", evidence.numeric))
    texts = {label: number(value) for label, value in pairs if value is not None}
    signed = any(text.startswith("-") for text in texts.values())
    for label, text in texts.items():
        lead = " " if signed and not text.startswith("-") else ""
        error = evidence.error if label == "numeric" else None
        yield label, f"{lead}{text}{'' if error is None else f' ± {magnitude(error)}'}"


def _against(difference: float | str, tolerance: float | str | None) -> str:
    if tolerance is None:
        return magnitude(difference)
    return f"{magnitude(difference)}, tolerance {magnitude(tolerance)}"


def _where(evidence: Evidence) -> str:
    parts = []
    if evidence.output is not None:
        parts.append(f"output {evidence.output}{_index(evidence.output_index)}")
    if evidence.argument is not None:
        parts.append(f"{evidence.argument}{_index(evidence.input_index)}")
    return " with respect to ".join(parts)


def _index(index: tuple[int, ...] | None) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


def _share(wrong: int, compared: int | None) -> str:
    if compared is None:
        return plural(wrong, "entry", "entries")
    return f"{wrong} of {plural(compared, 'entry', 'entries')}"

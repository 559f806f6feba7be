"""The arithmetic behind a finding, as labelled lines that any renderer can set."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.report.words import is_nan, magnitude, number, plural
from gradtool.results.report import Evidence


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
    """How far apart the values are, and how far they may be: what no message says."""
    if evidence.difference is not None and not is_nan(evidence.difference):
        yield (
            "difference",
            magnitude(evidence.difference) + _told(", tolerance", evidence.tolerance),
        )


def _values(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """The analytic and the numeric value, with their digits under each other."""
    pairs = (("analytic", evidence.analytic), ("numeric", evidence.numeric))
    texts = {label: number(value) for label, value in pairs if value is not None}
    signed = any(text.startswith("-") for text in texts.values())
    for label, text in texts.items():
        lead = " " if signed and not text.startswith("-") else ""
        if label == "analytic":
            yield label, lead + text
        elif is_nan(text):
            yield label, f"{lead}not known"
        else:
            yield label, lead + text + _told(" ±", evidence.error)


def _told(words: str, size: float | str | None) -> str:
    """The words and a size; nothing where the size is not known."""
    return "" if size is None or is_nan(size) else f"{words} {magnitude(size)}"


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

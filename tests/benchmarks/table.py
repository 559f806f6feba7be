"""A table of the benchmarks, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Table:
    """What was compared, row by row; all cells are text."""

    title: str
    about: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    summary: list[str] = field(default_factory=list)
    """Sentences that follow from the rows."""

    def text(self) -> str:
        """With aligned columns."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.columns))]
        shown = [
            "  ".join(map(_aligned, line, widths, range(len(line)))).rstrip() for line in lines
        ]
        return "\n".join([f"== {self.title}", *shown, *self.summary, ""])

    def markdown(self) -> str:
        """As a section of a page."""
        lines = [self.columns, ["---", *["---:"] * (len(self.columns) - 1)], *self.rows]
        rows = [f"| {' | '.join(line)} |" for line in lines]
        parts = [f"## {self.title}", self.about, "\n".join(rows), " ".join(self.summary)]
        return "\n\n".join(part for part in parts if part) + "\n"


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)


def milliseconds(seconds: float) -> str:
    """``12.3 ms``, with three digits that count."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def times(ratio: float) -> str:
    """A ratio as a cell."""
    return f"{ratio:.2f}"

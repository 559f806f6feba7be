"""A table of text, as the renderers of measurements set it each in its own way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Column:
    """A column: its heading, and how it is set."""

    name: str
    right: bool = True
    wide_only: bool = False
    """Omit the column where lines are short; another one then has its content in brief."""
    narrow_only: bool = False


@dataclass(frozen=True)
class Table:
    """Rows under a title."""

    title: str
    columns: Sequence[Column]
    groups: Sequence[Sequence[Sequence[str]]]
    """Rows, in groups that are set apart."""
    names: Sequence[str] = field(default_factory=tuple)
    """Titles of the groups, for where there is no room for a column with them."""
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def rows(self) -> Iterator[Sequence[str]]:
        """All rows."""
        for group in self.groups:
            yield from group

    def without_empty(self, *placeholders: str) -> Table:
        """The table without columns in which every row is empty or a placeholder."""
        kept = [
            place
            for place in range(len(self.columns))
            if {row[place] for row in self.rows} - {"", *placeholders}
        ]
        return replace(
            self,
            columns=[self.columns[place] for place in kept],
            groups=[[[row[place] for place in kept] for row in group] for group in self.groups],
        )

"""Tables of measurements: a row for each statement or sub-label, a column for each description.

Each label has a table, with a block for each number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradtool.engine.utils.benchmark.utils.common import (
    Measurement,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

_BETWEEN = "  |  "


class Compare:
    """Tables of measurements; `print` prints them and ``str`` returns them."""

    def __init__(self, results: Sequence[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = False
        self._warn = False
        self.extend_results(results)

    def extend_results(self, results: Sequence[Measurement]) -> None:
        """Add measurements.

        Raises:
            ValueError: one of them is not a `Measurement`.
        """
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"expected a Measurement, got {type(result).__name__}")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Print significant digits only."""
        self._trim = True

    def highlight_warnings(self) -> None:
        """Mark times with a large spread with ``(! 12%)``."""
        self._warn = True

    def print(self) -> None:
        """Print the tables."""
        print(self)

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = dict.fromkeys(each.label or "" for each in merged)
        return "\n".join(
            line
            for label in labels
            for line in self._table(label, [each for each in merged if (each.label or "") == label])
        )

    def _table(self, label: str, results: Sequence[Measurement]) -> Iterator[str]:
        unit, scale = select_unit(min(each.median for each in results))
        columns = list(dict.fromkeys(each.description or each.env or "" for each in results))
        lines = [["", *columns]]
        for threads in sorted({each.num_threads for each in results}):
            lines.append([f"{threads} thread{'' if threads == 1 else 's'}:"])
            block = [each for each in results if each.num_threads == threads]
            lines += self._rows(block, columns, scale)
        yield from _boxed(label, lines)
        yield ""
        yield f"Times are in {unit_to_english(unit)}s ({unit})."
        yield ""

    def _rows(
        self, results: Sequence[Measurement], columns: Sequence[str], scale: float
    ) -> Iterator[list[str]]:
        rows: dict[str, dict[str, Measurement]] = {}
        for each in results:
            rows.setdefault(each.as_row_name, {})[each.description or each.env or ""] = each
        for name, found in rows.items():
            yield [f"  {name}", *(self._cell(found.get(column), scale) for column in columns)]

    def _cell(self, result: Measurement | None, scale: float) -> str:
        if result is None:
            return ""
        value = result.median / scale
        text = (
            f"{trim_sigfig(value, result.significant_figures):g}" if self._trim else f"{value:.1f}"
        )
        if self._warn and result.has_warnings:
            return f"(! {result.iqr / result.median:.0%}) {text}"
        return text


def _boxed(title: str, lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lay out lines of cells as a table; a line with one cell is a heading."""
    full = [line for line in lines if len(line) > 1]
    widths = [max(map(len, cells)) for cells in zip(*full, strict=True)]
    length = sum(widths) + len(_BETWEEN) * (len(widths) - 1) + 1
    yield "[" + (f" {title} " if title else "").center(length, "-") + "]"
    for line in lines:
        yield (_line(line, widths) if len(line) > 1 else f"{line[0]} ".ljust(length + 2, "-"))
    yield "-" * (length + 2)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    rest = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return _BETWEEN.join([cells[0].ljust(widths[0]), *rest])


__all__ = ["Compare"]

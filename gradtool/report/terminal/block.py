"""The Jacobian around the worst entry: backward's values next to exact or numeric ones.

Wrong entries are coloured, and marked with an asterisk for eyes and logs without colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.text import Text

from gradtool.report.jacobian import Cell, Window, window
from gradtool.report.terminal.console import DIM, SEVERITIES, STRONG, Page
from gradtool.report.words import printable
from gradtool.results.report import Evidence, JacobianBlock, Severity
from gradtool.spelling import plural

_INDENT = 4
_MOST = 5
"""Rows, and columns, that are shown of a block."""
_GAP = 2
_BETWEEN = " |"
"""Between the two halves."""


def write_block(page: Page, evidence: Evidence) -> None:
    """Write the block of `evidence`, if it has one, as narrow as the page."""
    block = evidence.jacobian
    if block is None or block.rows * block.columns == 1:
        return
    shown = _fitting(block, page.width)
    for line in _lines(shown):
        page.whole(Text(" " * _INDENT).append_text(line))
    about = f"* wrong{_share(evidence)}; columns: {printable(evidence.argument or 'input')}"
    extent = f"; {shown.extent}" if shown.extent else ""
    page.wrapped(Text(about + extent, style=DIM), indent=_INDENT)


def _share(evidence: Evidence) -> str:
    """The count that the message has too: ``, in 2 of 12 entries``; nothing where it has none."""
    if evidence.wrong is None or evidence.compared is None:
        return ""
    return f", in {evidence.wrong} of {plural(evidence.compared, 'entry', 'entries')}"


def _fitting(block: JacobianBlock, width: int) -> Window:
    """The widest window that fits, one column at least."""
    for columns in range(_MOST, 1, -1):
        shown = window(block, rows=_MOST, columns=columns)
        if _INDENT + _Widths(shown).total <= width:
            return shown
    return window(block, rows=_MOST, columns=1)


class _Widths:
    """Widths of the columns of a window, with an asterisk after each analytic value."""

    def __init__(self, shown: Window) -> None:
        self.label = max(map(len, shown.rows))
        columns = list(zip(*shown.cells, strict=True))
        names = shown.columns
        self.analytic = [
            max([len(name) + 1, *(len(cell.analytic) + 1 for cell in column)])
            for name, column in zip(names, columns, strict=True)
        ]
        self.numeric = [
            max([len(name), *(len(cell.numeric) for cell in column)])
            for name, column in zip(names, columns, strict=True)
        ]

    @property
    def left(self) -> int:
        """Up to the end of the analytic half."""
        return self.label + sum(_GAP + width for width in self.analytic)

    @property
    def total(self) -> int:
        return self.left + len(_BETWEEN) + sum(_GAP + width for width in self.numeric)


def _lines(shown: Window) -> Iterator[Text]:
    widths = _Widths(shown)
    first = widths.label + _GAP
    left = (" " * first + "analytic").ljust(widths.left)
    yield Text(f"{left}{_BETWEEN}{' ' * _GAP}{shown.reference}")
    yield _head(shown, widths)
    for label, cells in zip(shown.rows, shown.cells, strict=True):
        line = Text(label.ljust(widths.label), style=DIM)
        _append(line, cells, widths.analytic, _analytic)
        line.append(_BETWEEN)
        _append(line, cells, widths.numeric, _numeric)
        yield line


def _head(shown: Window, widths: _Widths) -> Text:
    gap = " " * _GAP
    left = (f"{gap}{(name + ' ').rjust(w)}" for name, w in _paired(shown, widths.analytic))
    right = (f"{gap}{name.rjust(w)}" for name, w in _paired(shown, widths.numeric))
    return Text(" " * widths.label + "".join(left) + _BETWEEN + "".join(right), style=DIM)


def _paired(shown: Window, widths: list[int]) -> Iterator[tuple[str, int]]:
    return zip(shown.columns, widths, strict=True)


def _append(
    line: Text,
    cells: tuple[Cell, ...],
    widths: list[int],
    written: Callable[[Cell], tuple[str, str]],
) -> None:
    for cell, width in zip(cells, widths, strict=True):
        text, style = written(cell)
        line.append(" " * _GAP)
        line.append(text.rjust(width), style=f"not dim {style}")


def _analytic(cell: Cell) -> tuple[str, str]:
    if cell.is_wrong:
        return f"{cell.analytic}*", SEVERITIES[Severity.ERROR]
    return f"{cell.analytic} ", DIM if cell.analytic == "0" else ""


def _numeric(cell: Cell) -> tuple[str, str]:
    if cell.is_wrong:
        return cell.numeric, STRONG
    return cell.numeric, DIM if cell.numeric == "0" else ""

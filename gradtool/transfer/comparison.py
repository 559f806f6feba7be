"""Two cells of one run beside each other, at every size that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradtool.measure.bootstrap import ratio
from gradtool.measure.ratio import Ratio
from gradtool.results.transfer import Cell


@dataclass(frozen=True)
class Beside:
    """How a way of copying compares with another one, from small to large."""

    cells: Sequence[Cell]
    """Of the way that is asked about."""
    others: Sequence[Cell]
    ratios: Sequence[Ratio]
    """Of the times: below 1, the way that is asked about is faster."""

    @property
    def verdict(self) -> str:
        """``faster``, ``slower`` or ``no difference`` at the largest size."""
        return self.ratios[-1].verdict

    @property
    def since(self) -> int:
        """Bytes of the smallest copy from which on the verdict is the same."""
        size = self.cells[-1].total
        for cell, found in zip(reversed(self.cells), reversed(self.ratios), strict=True):
            if found.verdict != self.verdict:
                break
            size = cell.total
        return size

    @property
    def factor(self) -> float:
        """How many times as fast, or as slow where it is slower, at the largest size."""
        value = self.ratios[-1].value
        return 1 / value if value < 1 else value

    @property
    def rests_on(self) -> tuple[str, ...]:
        """The cells that decided."""
        return self.cells[-1].id, self.others[-1].id


def way(cells: Sequence[Cell], name: str, *, many: bool = False) -> list[Cell]:
    """The measured cells of ``scenario.direction.mode``, one buffer or many tensors, by size.

    Cells whose times scatter too much to be used are left out.
    """
    found = [
        cell
        for cell in cells
        if cell.id.partition("[")[0] == name
        and not cell.row
        and (cell.tensors > 1) == many
        and cell.done is not None
        and cell.done.trust != "do not use"
    ]
    return sorted(found, key=lambda cell: cell.total)


def beside(these: Sequence[Cell], those: Sequence[Cell]) -> Beside | None:
    """The one beside the other; None where they share no size."""
    by_shape = {(cell.tensors, cell.bytes): cell for cell in those}
    pairs = [
        (cell, by_shape[cell.tensors, cell.bytes])
        for cell in these
        if (cell.tensors, cell.bytes) in by_shape
    ]
    if not pairs:
        return None
    ratios = [ratio(cell.samples, other.samples) for cell, other in pairs]
    return Beside([cell for cell, _ in pairs], [other for _, other in pairs], ratios)

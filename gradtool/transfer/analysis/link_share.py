"""Each cell's share of the link, and doubt of a link that copies exceed.

The link of a virtual machine may be read as that of a virtual port, and an idle one as slower
than it is. Bytes that were verified to arrive did go over it, so a rate above it that several
cells reach says that the link was misread; of one cell alone, that its time is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from gradtool.measure.units import rate_text
from gradtool.results.transfer import Cell, Link

SLACK = 1.01
"""Factor above the link's raw rate that a median may have, for the rounding of both."""

_ENOUGH = 2
"""Cells above the link that say that it was misread."""


def with_shares(cells: Sequence[Cell], link: Link) -> tuple[tuple[Cell, ...], Link]:
    """The cells with their shares of the link, and the link; unknown if it was misread."""
    if link.gbps is None:
        return tuple(cells), link
    above = [cell for cell in cells if not cell.doubt and _load(cell) > link.gbps * SLACK]
    if len(above) >= _ENOUGH:
        return tuple(cells), _doubted(link, max(map(_load, above)))
    return tuple(_with_share(cell, link.gbps) for cell in cells), link


def _load(cell: Cell) -> float:
    """GB/s of one direction that a cell put on the link; 0 if it does not use it."""
    if cell.direction == "d2d" or cell.host_only:
        return 0.0
    return (cell.gbps or 0.0) / (2 if cell.direction == "duplex" else 1)


def _doubted(link: Link, reached: float) -> Link:
    assert link.gbps is not None
    lanes = f"generation {link.generation} x{link.width}, {rate_text(link.gbps)} GB/s"
    return Link(
        unknown=f"{link.source} reports {lanes}, but copies reached {rate_text(reached)} GB/s: "
        "the port is virtual, or the link was idle"
    )


def _with_share(cell: Cell, link: float) -> Cell:
    load = _load(cell)
    if not load:
        return cell
    if load > link * SLACK:
        reason = f"not shown: {rate_text(load)} GB/s is above the link's raw {rate_text(link)} GB/s"
        return replace(
            cell, call=None, done=None, device=None, samples=(), gbps=None, device_gbps=None,
            verified=False, unavailable=reason,
        )  # fmt: skip
    rate = (cell.device_gbps or cell.gbps or 0.0) / (2 if cell.direction == "duplex" else 1)
    return replace(cell, link_share=min(rate / link, 1.0))

"""Options of a run, from flags or a configuration file, and the interface for its progress."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Protocol

import msgspec

from gradtool.results.transfer import Direction, Mode

SIZES = (4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20)
"""Default sizes of one buffer."""

PROBES = ("hazards", "asynchrony", "latency", "pinning", "overlap", "staging", "nodes")
"""Names of the probes."""


Probe = Literal["asynchrony", "hazards", "latency", "pinning", "overlap", "staging", "nodes"]


class RowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a configuration, in addition to the grid of sizes."""

    name: str
    scenario: str
    direction: Direction = "h2d"
    mode: Mode = "blocking"
    tensors: int = 1
    bytes: int
    parts: tuple[int, ...] = ()
    """Sizes of all tensors, if they differ; `bytes` is then that of the largest."""
    published: float | None = None
    """Seconds measured elsewhere, shown for comparison."""


class TransferOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of one run."""

    device: str | None = None
    """``cpu``, ``cuda`` or ``cuda:N``; None takes CUDA where there is one."""
    sizes: tuple[int, ...] | None = None
    """Bytes of one buffer; empty measures no grid, None the default sizes that fit into memory."""
    directions: tuple[str, ...] = ()
    """Empty for all."""
    scenarios: tuple[str, ...] = ()
    """Shell patterns of names; empty for all."""
    collections: tuple[tuple[int, int], ...] = ((1000, 4000),)
    """Many tensors at once: their number, and the bytes of each."""
    rows: tuple[RowOptions, ...] = ()
    probes: tuple[str, ...] = PROBES
    budget: float = 60.0
    """Seconds that the measurements may take."""
    command: str = ""


class Watcher(Protocol):
    """Receives the progress of a run."""

    def stage(self, what: str) -> None:
        """Another part of the run starts."""

    def sampled(self, waiting: int, seconds: float) -> None:
        """A sample was taken; `waiting` cells need more, and `seconds` of the budget are used."""


class Unwatched:
    """Ignores all progress."""

    def stage(self, what: str) -> None:
        """Do nothing."""

    def sampled(self, waiting: int, seconds: float) -> None:
        """Do nothing."""


class Grid(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The section ``transfer``: each key has a flag that overrides it, apart from the last two."""

    device: str | None = None
    sizes: tuple[Any, ...] | None = None
    """Sizes of one buffer: ``64KiB`` or bytes. An empty list measures no grid."""
    directions: tuple[Direction, ...] = ()
    scenarios: tuple[str, ...] = ()
    budget: Annotated[float, msgspec.Meta(gt=0)] | None = None
    collections: tuple[CollectionOf, ...] | None = None
    probes: tuple[Probe, ...] | None = None


class CollectionOf(msgspec.Struct, frozen=True, kw_only=True):
    """Many tensors of one size."""

    tensors: Annotated[int, msgspec.Meta(ge=1)]
    each: Any
    """The size of each."""


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row to measure in addition to the grid."""

    name: str
    scenario: str
    each: Any
    """The size of each tensor."""
    tensors: Annotated[int, msgspec.Meta(ge=1)] = 1
    direction: Direction = "h2d"
    mode: Mode = "blocking"
    published_ms: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Milliseconds measured elsewhere, shown for comparison."""


class File(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    version: Literal[1]
    transfer: Grid = Grid()
    rows: tuple[Row, ...] = ()

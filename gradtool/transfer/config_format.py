"""The format of a transfer profile's YAML as typed structs: the one description of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from gradtool.results.transfer import Direction, Mode


class Grid(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The section ``transfer``: each key has a flag that overrides it, apart from the last two."""

    device: str | None = None
    sizes: tuple[Any, ...] | None = None
    """Sizes of one buffer: ``64KiB`` or bytes. An empty list measures no grid."""
    directions: tuple[Direction, ...] = ()
    scenarios: tuple[str, ...] = ()
    budget: Annotated[float, msgspec.Meta(gt=0)] | None = None
    collections: tuple[CollectionOf, ...] | None = None
    probes: tuple[Literal["asynchrony", "hazards", "pinning", "overlap", "nodes"], ...] | None = (
        None
    )


class CollectionOf(msgspec.Struct, frozen=True, kw_only=True):
    """Many tensors of one size."""

    tensors: Annotated[int, msgspec.Meta(ge=1)]
    each: Any
    """The size of each."""


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row to measure beside the grid."""

    name: str
    scenario: str
    each: Any
    """The size of each tensor."""
    tensors: Annotated[int, msgspec.Meta(ge=1)] = 1
    direction: Direction = "h2d"
    mode: Mode = "blocking"
    published_ms: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Milliseconds that were measured elsewhere, shown beside."""


class File(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    version: Literal[1]
    transfer: Grid = Grid()
    rows: tuple[Row, ...] = ()

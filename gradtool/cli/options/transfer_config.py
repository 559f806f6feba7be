"""The YAML of ``profile-transfer --config``, read with the strict reader of ``gradtool.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gradtool.config.decoding import decode, spelled
from gradtool.config.document import Document, Where
from gradtool.config.yaml import read_document
from gradtool.measure.units import parse_size
from gradtool.transfer.plan.options import File, Grid, Row, RowOptions, TransferOptions


def load_transfer_config(path: str) -> TransferOptions:
    """The options that a file stands for.

    Raises:
        UsageError: The file cannot be read, or something in it is wrong; with its line.
    """
    document = read_document(Path(path), path)
    if document.value is None:
        raise document.error((), "the file is empty: its first line should be 'version: 1'")
    file = decode(document, File)
    given = dict(_grid(document, file.transfer))
    rows = tuple(_row(document, row, place) for place, row in enumerate(file.rows))
    return TransferOptions(**given, rows=rows)


def _grid(document: Document, grid: Grid) -> Iterator[tuple[str, Any]]:
    """The options that the section gives."""
    plain = ("device", "directions", "scenarios", "budget", "probes")
    for name in plain:
        value = getattr(grid, name)
        if value is not None:
            yield name, value
    if grid.sizes is not None:
        where = ("transfer", "sizes")
        sizes = enumerate(grid.sizes)
        yield "sizes", tuple(_size(document, size, (*where, place)) for place, size in sizes)
    if grid.collections is not None:
        place: Where = ("transfer", "collections")
        yield (
            "collections",
            tuple(
                (each.tensors, _size(document, each.each, (*place, number, "each")))
                for number, each in enumerate(grid.collections)
            ),
        )


def _row(document: Document, row: Row, place: int) -> RowOptions:
    published = None if row.published_ms is None else row.published_ms * 1e-3
    return RowOptions(
        name=row.name,
        scenario=row.scenario,
        direction=row.direction,
        mode=row.mode,
        tensors=row.tensors,
        bytes=_size(document, row.each, ("rows", place, "each")),
        published=published,
    )


def _size(document: Document, value: Any, where: Where) -> int:
    """A size: a whole number of bytes, or text with a unit."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    try:
        return parse_size(value) if isinstance(value, str) else parse_size(repr(value))
    except ValueError as error:
        raise document.error(where, f"{spelled(where)}: {error}") from None


def overridden(options: TransferOptions, **flags: Any) -> TransferOptions:
    """The options with those of the command line in place of the file's."""
    return msgspec.structs.replace(
        options, **{name: value for name, value in flags.items() if value is not None}
    )

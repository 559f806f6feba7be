"""``--like loader.py::batches``: the copies that the user's own batches need.

A batch is flattened to its arrays and tensors; every way of copying them is a row of the plan.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gradtool.adapters.engines import BUNDLED
from gradtool.collect.loader import Loader, LoadError
from gradtool.transfer.errors import TransferError, reason_of
from gradtool.transfer.plan.options import RowOptions
from gradtool.transfer.plan.scenarios import SCENARIOS

NAME = "batch"
"""Name of the rows."""

_LOOKED_AT = 8
"""Batches that are taken from the iterable; the largest is measured."""

_FORM = "--like needs FILE.py::NAME, an iterable of batches or a function that returns one"


def rows_like(target: str) -> tuple[RowOptions, ...]:
    """A row for each way to the device of the largest of the first batches.

    Args:
        target: ``FILE.py::NAME``.

    Raises:
        TransferError: There is no such iterable, or its batches hold no arrays.
    """
    batches = [list(_sizes(batch)) for batch in _batches(target)]
    largest = max(batches, key=sum, default=[])
    if not sum(largest):
        raise TransferError(f"--like {target}: its batches contain no arrays or tensors")
    return tuple(_rows(tuple(size for size in largest if size)))


def _rows(sizes: tuple[int, ...]) -> Iterator[RowOptions]:
    for scenario in SCENARIOS.values():
        many_only, one_only = scenario.collections_only, scenario.single_only
        if scenario.host_only or (one_only if len(sizes) > 1 else many_only):
            continue
        for mode in scenario.ways.get("h2d", ()):
            yield RowOptions(
                name=NAME, scenario=scenario.name, mode=mode, tensors=len(sizes),
                bytes=max(sizes), parts=sizes,
            )  # fmt: skip


def _batches(target: str) -> list[Any]:
    """The first batches of the iterable."""
    file, separator, name = target.partition("::")
    if not separator or not name:
        raise TransferError(f"{_FORM}; got {target!r}")
    try:
        loaded = Loader("torch" if find_spec("torch") else BUNDLED).load(Path(file))
    except LoadError as error:
        raise TransferError(f"--like {file}: {error.message}") from error
    with loaded.active():
        try:
            found = getattr(loaded.module, name)
            made = found() if callable(found) and not isinstance(found, Iterable) else found
            return list(itertools.islice(made, _LOOKED_AT))
        except Exception as error:  # the user's code may raise anything
            raise TransferError(f"--like {target}: {reason_of(error)}") from error


def _sizes(value: Any) -> Iterator[int]:
    """The bytes of each array or tensor in a batch, in its order."""
    size = getattr(value, "nbytes", None)
    if isinstance(size, int):
        yield size
    elif isinstance(value, Mapping):
        yield from itertools.chain.from_iterable(map(_sizes, value.values()))
    elif isinstance(value, (list, tuple)):
        yield from itertools.chain.from_iterable(map(_sizes, value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (getattr(value, field.name) for field in dataclasses.fields(value))
        yield from itertools.chain.from_iterable(map(_sizes, fields))

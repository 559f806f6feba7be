"""Results of a profile: its events, averages over those of one name, and their table.

Times are microseconds, as in torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_COLUMN = 12
_SPARE = 4
"""Characters that the column of names is wider than the longest name."""

_SORTS = {
    "cpu_time": "cpu_time",
    "cpu_time_total": "cpu_time_total",
    "self_cpu_time_total": "self_cpu_time_total",
    "device_time": "device_time",
    "cuda_time": "device_time",
    "device_time_total": "device_time_total",
    "cuda_time_total": "device_time_total",
    "self_device_time_total": "self_device_time_total",
    "self_cuda_time_total": "self_device_time_total",
    "count": "count",
}
"""What a table can be sorted by, and the attribute that this is."""


class Interval(NamedTuple):
    """Times at which something started and ended."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """Return how long it took."""
        return self.end - self.start


class FormattedTimes:
    """Times of a call, or the mean times of several, and all times as text."""

    count: int
    cpu_time_total: float
    device_time_total: float

    @property
    def cpu_time(self) -> float:
        """The mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """The mean time of a call on the device."""
        return self.device_time_total / self.count if self.count else 0.0

    def __getattr__(self, name: str) -> str:
        """``cpu_time_total_str`` and so on: a time with its unit."""
        if not name.endswith("time_str") and not name.endswith("time_total_str"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return time_text(getattr(self, name.removesuffix("_str")))


@dataclass(eq=False)
class FunctionEvent(FormattedTimes):
    """One call of something."""

    name: str
    start: float
    """Since the profile began."""
    cpu_time_total: float
    self_cpu_time_total: float
    device_time_total: float = 0.0
    self_device_time_total: float = 0.0
    depth: int = 0
    """How many events it is inside of."""
    sequence_nr: int = -1
    """The number of the node that it makes or runs; -1 if there is none."""
    input_shapes: list[list[int]] = field(default_factory=list)
    thread: int = 1
    cpu_parent: FunctionEvent | None = field(default=None, repr=False)
    """The event that it is directly inside of."""
    cpu_children: list[FunctionEvent] = field(default_factory=list, repr=False)
    """Those directly inside of it, in order."""

    count = 1
    fwd_thread = 0
    is_async = is_remote = is_legacy = False
    cpu_memory_usage = device_memory_usage = 0
    """Not recorded."""

    @property
    def key(self) -> str:
        """The name, by which averages are taken."""
        return self.name

    @property
    def time_range(self) -> Interval:
        """Its start and its end."""
        return Interval(self.start, self.start + self.cpu_time_total)


@dataclass
class FunctionEventAvg(FormattedTimes):
    """All calls of one name."""

    key: str
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    device_time_total: float = 0.0
    self_device_time_total: float = 0.0
    input_shapes: list[list[int]] = field(default_factory=list)

    def add(self, event: FunctionEvent) -> FunctionEventAvg:
        """Count one call more."""
        self.count += 1
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.device_time_total += event.device_time_total
        self.self_device_time_total += event.self_device_time_total
        return self

    @property
    def name(self) -> str:
        """The same as the key."""
        return self.key

    @property
    def cuda_time(self) -> float:
        """An older name of ``device_time``."""
        return self.device_time

    @property
    def cuda_time_total(self) -> float:
        """An older name of ``device_time_total``."""
        return self.device_time_total

    @property
    def self_cuda_time_total(self) -> float:
        """An older name of ``self_device_time_total``."""
        return self.self_device_time_total


class EventList(list[Any]):
    """Events or averages of events."""

    def __init__(self, events: Iterable[Any] = (), *, use_device: str | None = None) -> None:
        super().__init__(events)
        self._use_device = use_device

    @property
    def self_cpu_time_total(self) -> float:
        """All that was spent in what is listed."""
        return float(sum(event.self_cpu_time_total for event in self))

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **_options: Any
    ) -> EventList:
        """The average of the events of each name, in the order of their first calls.

        With `group_by_input_shape`, calls with arguments of other shapes count apart.
        """
        found: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shape else []
            average = FunctionEventAvg(event.key, input_shapes=shapes)
            found.setdefault((event.key, str(shapes)), average).add(event)
        return EventList(found.values(), use_device=self._use_device)

    def total_average(self) -> FunctionEventAvg:
        """All events as one."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The list as a table.

        Args:
            sort_by: ``cpu_time_total``, ``self_cpu_time_total``, ``cuda_time_total``,
                ``count`` and their like, the largest first; None for the order of the calls.
            row_limit: How many rows are shown; -1 for all.
            max_src_column_width: Accepted: there is no such column.
            max_name_column_width: Longer names are cut.
            max_shapes_column_width: Accepted: there is no such column.
            header: A line above it.
            top_level_events_only: Leave out events inside of others.
            time_unit: ``s``, ``ms``, ``us`` or ``ns``; by default each time has its own.

        Raises:
            ValueError: it cannot be sorted by that.
        """
        rows = list(self)
        if top_level_events_only:
            rows = [row for row in rows if not getattr(row, "depth", 0)]
        if sort_by is not None:
            if sort_by not in _SORTS:
                raise ValueError(f"cannot sort by {sort_by!r}; known: {', '.join(_SORTS)}")
            rows.sort(key=lambda row: getattr(row, _SORTS[sort_by]), reverse=True)
        shown = rows if row_limit < 0 else rows[:row_limit]
        lines = _table(shown, self, max_name_column_width, self._use_device, time_unit)
        return "\n".join([*([header] if header else []), *lines]) + "\n"

    def __str__(self) -> str:
        return self.table()


def _table(
    rows: Sequence[Any], events: EventList, widest: int, device: str | None, unit: str | None
) -> Iterable[str]:
    columns = _columns(events, device, unit)
    names = [_cut(row.key, widest) for row in rows]
    width = max([*map(len, names), len("Name")]) + _SPARE
    widths = [width, *(max(_COLUMN, len(name)) for name, _ in columns)]
    dashes = "  ".join("-" * each for each in widths)
    yield dashes
    yield _row(["Name", *(name for name, _ in columns)], widths)
    yield dashes
    for name, row in zip(names, rows):
        yield _row([name, *(read(row) for _, read in columns)], widths)
    yield dashes
    yield f"Self CPU time total: {time_text(events.self_cpu_time_total, unit)}"
    if device is not None:
        total = sum(event.self_device_time_total for event in events)
        yield f"Self CUDA time total: {time_text(total, unit)}"


def _columns(
    events: EventList, device: str | None, unit: str | None
) -> list[tuple[str, Callable[[Any], str]]]:
    """Heading of each column, and what it shows of a row."""
    cpu = events.self_cpu_time_total
    on_device = sum(event.self_device_time_total for event in events)

    def time(name: str) -> Callable[[Any], str]:
        return lambda row: time_text(getattr(row, name), unit)

    def share(name: str, whole: float) -> Callable[[Any], str]:
        return lambda row: f"{100 * getattr(row, name) / whole if whole else 0:.2f}%"

    columns = [
        ("Self CPU %", share("self_cpu_time_total", cpu)),
        ("Self CPU", time("self_cpu_time_total")),
        ("CPU total %", share("cpu_time_total", cpu)),
        ("CPU total", time("cpu_time_total")),
        ("CPU time avg", lambda row: time_text(row.cpu_time_total / row.count, unit)),
    ]
    if device is not None:
        columns += [
            ("Self CUDA", time("self_device_time_total")),
            ("Self CUDA %", share("self_device_time_total", on_device)),
            ("CUDA total", time("device_time_total")),
            ("CUDA time avg", lambda row: time_text(row.device_time_total / row.count, unit)),
        ]
    return [*columns, ("# of Calls", lambda row: str(row.count))]


def time_text(microseconds: float, unit: str | None = None) -> str:
    """``16.432ms``: in the given unit, or the largest of s, ms and us that it reaches."""
    scales = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
    if unit is None:
        unit = next((name for name in ("s", "ms") if microseconds >= scales[name]), "us")
    return f"{microseconds / scales[unit]:.3f}{unit}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths))


def _cut(name: str, widest: int) -> str:
    return name if len(name) <= widest else name[: widest - 3] + "..."


__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg"]

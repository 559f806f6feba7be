"""Spans of time, one inside the other: what a thread did while it was profiled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from gradtool.measure.clock import CLOCK, Clock


class Span:
    """One call of something that has a name. Times are nanoseconds."""

    __slots__ = ("children", "depth", "device", "end", "inner_device", "marks", "name", "start")

    def __init__(self, name: str, start: int, depth: int) -> None:
        self.name = name
        self.start = self.end = start
        self.depth = depth
        self.children = 0
        """Time in spans directly inside."""
        self.marks: list[tuple[Any, Any]] = []
        """Pairs of device events around work that was given to a device."""
        self.device = self.inner_device = 0
        """Time that the device took for the span's own work, and for that of spans inside."""

    @property
    def total(self) -> int:
        """From its start to its end."""
        return self.end - self.start

    @property
    def own(self) -> int:
        """The part of it in no span inside."""
        return self.total - self.children


class Recorder:
    """The spans of one thread, in the order in which they started."""

    def __init__(self, clock: Clock = CLOCK, mark: Callable[[], Any] | None = None) -> None:
        """`mark` makes and records a device event; None without a device to be timed."""
        self.spans: list[Span] = []
        self.mark = mark
        self._clock = clock
        self._open: list[Span] = []

    def enter(self, name: str) -> Span | None:
        """Start a span; None if the one that is open has the name: then it is the same call."""
        opened = self._open
        if opened and opened[-1].name == name:
            return None
        span = Span(name, self._clock(), len(opened))
        opened.append(span)
        self.spans.append(span)
        return span

    def leave(self, span: Span) -> None:
        """End a span, and those inside it that an exception left open."""
        span.end = self._clock()
        while self._open:
            last = self._open.pop()
            if last is span:
                break
            last.end = span.end
        if self._open:
            self._open[-1].children += span.total

    def around_work(self, work: Callable[..., Any], *args: Any, **params: Any) -> Any:
        """Let the device's time of `work` count for the span that is open."""
        if self.mark is None or not self._open:
            return work(*args, **params)
        holder, before = self._open[-1], self.mark()
        try:
            return work(*args, **params)
        finally:
            holder.marks.append((before, self.mark()))

    def close(self) -> None:
        """End what is open, and ask the device how long its work took."""
        while self._open:
            self.leave(self._open[-1])
        for span in self.spans:
            for before, after in span.marks:
                after.synchronize()
                span.device += round(before.elapsed_time(after) * 1e6)
            span.marks = []
        _add_up_device(self.spans)


def _add_up_device(spans: list[Span]) -> None:
    """Give every span the device's time of those inside."""
    above: list[Span] = []
    for span in spans:
        del above[span.depth :]
        for each in above:
            each.inner_device += span.device
        above.append(span)


class _Recording(threading.local):
    recorder: Recorder | None = None


recording = _Recording()
"""The recorder of this thread, if it is profiled."""


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose calls are spans where the thread is profiled."""

    def spanned(*args: Any, **params: Any) -> Any:
        recorder = recording.recorder
        span = recorder.enter(name) if recorder is not None else None
        if recorder is None or span is None:
            return function(*args, **params)
        try:
            return function(*args, **params)
        finally:
            recorder.leave(span)

    return spanned


def computing(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """`timed` for what gives work to a device, whose own time is taken as well."""

    def spanned(*args: Any, **params: Any) -> Any:
        recorder = recording.recorder
        if recorder is None:
            return compute(*args, **params)
        span = recorder.enter(name)
        try:
            return recorder.around_work(compute, *args, **params)
        finally:
            if span is not None:
                recorder.leave(span)

    return spanned

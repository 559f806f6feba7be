"""Nested spans of time that record a profiled thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine.autograd._node import next_sequence_number
from gradtool.measure.clock import CLOCK, Clock


class Span:
    """One call of a named operation. Times are nanoseconds."""

    __slots__ = (
        "children", "depth", "device", "end", "inner_device", "marks", "name", "number", "shapes",
        "start",
    )  # fmt: skip

    def __init__(self, name: str, start: int, depth: int, number: int, args: Any) -> None:
        self.name = name
        self.number = number
        """The sequence number of its node, or of the next one; -1 if it is of no node."""
        self.shapes = [list(getattr(each, "shape", ())) for each in args]
        self.start = self.end = start
        self.depth = depth
        self.children = 0
        """Time in spans directly inside."""
        self.marks: list[tuple[Any, Any]] = []
        """Pairs of device events around work launched on a device."""
        self.device = self.inner_device = 0
        """Device time of the span's own work, and of spans inside."""

    @property
    def total(self) -> int:
        """Time from start to end."""
        return self.end - self.start

    @property
    def own(self) -> int:
        """Time outside nested spans."""
        return self.total - self.children


class Recorder:
    """Recorder of one thread's spans, in the order of their starts."""

    def __init__(self, clock: Clock = CLOCK, mark: Callable[[], Any] | None = None) -> None:
        """Take `mark`, which makes and records a device event; None if no device is timed."""
        self.spans: list[Span] = []
        self.mark = mark
        self._clock = clock
        self._open: list[Span] = []

    def enter(self, name: str, args: Sequence[Any] = (), number: int = -1) -> Span | None:
        """Start a span; return None if the open one has that name: then it is the same call."""
        opened = self._open
        if opened and opened[-1].name == name:
            return None
        span = Span(name, self._clock(), len(opened), number, args)
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
        """Run `work`, and count its device time for the open span."""
        if self.mark is None or not self._open:
            return work(*args, **params)
        holder, before = self._open[-1], self.mark()
        try:
            return work(*args, **params)
        finally:
            holder.marks.append((before, self.mark()))

    def close(self) -> None:
        """End open spans, and read the device times."""
        while self._open:
            self.leave(self._open[-1])
        for span in self.spans:
            for before, after in span.marks:
                # Only at the end: waiting earlier would change what is profiled.
                after.synchronize()
                # Events count in milliseconds, spans in nanoseconds.
                span.device += round(before.elapsed_time(after) * 1e6)
            span.marks = []
        _add_up_device(self.spans)


def _add_up_device(spans: list[Span]) -> None:
    """Add to every span the device time of spans inside."""
    above: list[Span] = []
    for span in spans:
        del above[span.depth :]
        for each in above:
            each.inner_device += span.device
        above.append(span)


class _Recording(threading.local):
    recorder: Recorder | None = None


recording = _Recording()
"""Recorder of this thread, if it is profiled."""


def timed(name: str, function: Callable[..., Any], number: int | None = None) -> Callable[..., Any]:
    """Wrap `function` so that its calls are spans while the thread is profiled.

    `number` is the sequence number of the node that it is called for; by default the next one's.
    """

    def spanned(*args: Any, **params: Any) -> Any:
        recorder = recording.recorder
        span = None if recorder is None else recorder.enter(name, args, _number_of(number))
        if recorder is None or span is None:
            return function(*args, **params)
        try:
            return function(*args, **params)
        finally:
            recorder.leave(span)

    return spanned


def _number_of(number: int | None) -> int:
    if number is not None:
        return number
    return next_sequence_number() if modes.grad else -1


def computing(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that launches work on a device, and record the device time as well."""

    def spanned(*args: Any, **params: Any) -> Any:
        recorder = recording.recorder
        if recorder is None:
            return compute(*args, **params)
        span = recorder.enter(name, args)
        try:
            return recorder.around_work(compute, *args, **params)
        finally:
            if span is not None:
                recorder.leave(span)

    return spanned

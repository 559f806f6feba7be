"""``torch.autograd.profiler``: which operations the time of a piece of code went to."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from gradtool.engine._profiling import cuda
from gradtool.engine._profiling.hooks import listening
from gradtool.engine._profiling.recorder import Recorder, Span, recording
from gradtool.engine.autograd.profiler_util import EventList, FunctionEvent
from gradtool.measure.clock import CLOCK, Clock


class profile:
    """A context in which operations of this thread are timed by name.

    Outside of one the engine runs without a profiler. An operation whose function a module imported
    before the context, as ``from torch import stack`` does, shows as its primitives.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        clock: Clock = CLOCK,
        **accepted: Any,
    ) -> None:
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes
        wants_cuda = use_cuda or use_device == "cuda"
        mark = cuda.marker() if wants_cuda and enabled else None
        self._use_device = "cuda" if mark is not None else None
        self._recorder = Recorder(clock, mark)
        self._context = contextlib.ExitStack()
        self._events: EventList | None = None

    def __enter__(self) -> profile:
        """Start to record.

        Raises:
            RuntimeError: it was entered before.
        """
        if not self.enabled:
            return None  # type: ignore[return-value]  # as in torch
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._context.enter_context(listening(self._recorder))
        return self

    def __exit__(self, *failure: object) -> None:
        if not self.enabled:
            return
        self._context.close()
        self._recorder.close()
        spans = self._recorder.spans
        self._events = EventList(_events(spans, self.record_shapes), use_device=self._use_device)

    @property
    def function_events(self) -> EventList:
        """Every call, in order.

        Raises:
            AssertionError: the context has not been left.
        """
        if self._events is None:
            raise AssertionError("Profiler didn't finish running")
        return self._events

    def key_averages(self, *grouping: Any, **options: Any) -> EventList:
        """The calls of each name as one."""
        return self.function_events.key_averages(*grouping, **options)

    def total_average(self) -> Any:
        """All calls as one."""
        return self.function_events.total_average()

    def table(self, *args: Any, **options: Any) -> str:
        """Every call as a row of a table; see `EventList.table`."""
        return self.function_events.table(*args, **options)

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all that was recorded."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(self, path: str) -> None:
        """Write the calls as a file that ``chrome://tracing`` and Perfetto read."""
        events = [
            {"name": event.name, "ph": "X", "pid": 0, "tid": 0, "cat": "cpu_op",
             "ts": event.start, "dur": event.cpu_time_total}
            for event in self.function_events
        ]  # fmt: skip
        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")

    def __repr__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self._events is None else str(self._events)


def _events(spans: list[Span], with_shapes: bool) -> list[FunctionEvent]:
    """The calls in order, each with those inside of it."""
    begin = spans[0].start if spans else 0
    events: list[FunctionEvent] = []
    above: list[FunctionEvent] = []
    for span in spans:
        event = FunctionEvent(
            name=span.name,
            start=(span.start - begin) / 1e3,
            cpu_time_total=span.total / 1e3,
            self_cpu_time_total=span.own / 1e3,
            device_time_total=(span.device + span.inner_device) / 1e3,
            self_device_time_total=span.device / 1e3,
            depth=span.depth,
            sequence_nr=span.number,
            input_shapes=span.shapes if with_shapes else [],
        )
        del above[span.depth :]
        if above:
            event.cpu_parent = above[-1]
            above[-1].cpu_children.append(event)
        above.append(event)
        events.append(event)
    return events


def kineto_available() -> bool:
    """Return True: there is a profiler."""
    return True


class record_function:
    """Gives a piece of code a name in profiles: a context, or a decorator."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._recorder: Recorder | None = None
        self._span: Span | None = None

    def __enter__(self) -> record_function:
        # Kept for the exit: the profile may end within the block.
        self._recorder = recording.recorder
        self._span = self._recorder.enter(self.name) if self._recorder else None
        return self

    def __exit__(self, *failure: object) -> None:
        if self._recorder is not None and self._span is not None:
            self._recorder.leave(self._span)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose calls have the name."""

        @wraps(function)
        def named(*args: Any, **params: Any) -> Any:
            # A new one for each call, which may be recursive.
            with record_function(self.name):
                return function(*args, **params)

        return named


__all__ = ["EventList", "FunctionEvent", "kineto_available", "profile", "record_function"]

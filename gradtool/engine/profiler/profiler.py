"""``torch.profiler.profile``; `activities` select what is timed."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any

from gradtool.device import CUDA
from gradtool.engine.autograd import profiler as autograd_profiler
from gradtool.engine.autograd.profiler_util import EventList
from gradtool.measure.clock import CLOCK, Clock


class ProfilerActivity(enum.Enum):
    """Activities that can be timed."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """Return the activities that can be timed here."""
    found = {ProfilerActivity.CPU}
    return found | {ProfilerActivity.CUDA} if CUDA.count() else found


class profile:
    """Context that times the operations of this thread by name.

    Args:
        activities: `ProfilerActivity.CUDA` adds the time of the device, if there is one; by
            default all supported ones.
        schedule: Must be None: everything between start and stop is recorded.
        on_trace_ready: Called with the profile at its end.
        record_shapes: Keep the shapes of arguments; `key_averages` can tell calls apart by them.
            `profile_memory`, `with_stack` and torch's other options are ignored.
        clock: Source of times, for tests.

    Raises:
        NotImplementedError: there is a schedule.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], Any] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        clock: Clock = CLOCK,
        **accepted: Any,
    ) -> None:
        if schedule is not None:
            raise NotImplementedError(
                "profile(schedule=...) is not supported: enter the profiler around the code "
                "to record"
            )
        wanted = supported_activities() if activities is None else set(activities)
        self.activities = wanted
        self.on_trace_ready = on_trace_ready
        use_cuda = ProfilerActivity.CUDA in wanted
        self.profiler = autograd_profiler.profile(
            use_cuda=use_cuda, record_shapes=record_shapes, clock=clock
        )

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start recording."""
        self.profiler.__enter__()

    def stop(self) -> None:
        """Stop recording."""
        self.profiler.__exit__(None, None, None)
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """Do nothing: steps matter to a schedule only."""

    def events(self) -> EventList:
        """Return every call, in order."""
        return self.profiler.function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """Return the calls grouped by name; `EventList.table` formats them."""
        return self.profiler.key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str) -> None:
        """Write the calls to a file for ``chrome://tracing`` or Perfetto."""
        self.profiler.export_chrome_trace(path)


__all__ = ["ProfilerActivity", "profile", "supported_activities"]

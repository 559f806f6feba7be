"""A thread that runs calls in order, which stands in for a stream."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from gradtool.measure.clock import CLOCK, Clock


class WorkerEvent:
    """A mark in the queue of a thread, with the time at which the thread reached it."""

    def __init__(self, clock: Clock = CLOCK) -> None:
        self._clock = clock
        self._reached = threading.Event()
        self._at: int | None = None

    def record(self, stream: Any = None) -> None:
        """Mark the present end of a stream's queue."""
        reached = self._reached = threading.Event()
        self._at = None
        stream.submit(lambda: self._reach(reached))

    def _reach(self, reached: threading.Event) -> None:
        if reached is self._reached:
            self._at = self._clock()
        reached.set()

    def query(self) -> bool:
        """Return True once the work before the mark is done."""
        return self._reached.is_set()

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""
        self._reached.wait()

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds from this mark to that of `end`.

        Raises:
            RuntimeError: One of them has not been reached.
        """
        if self._at is None or end._at is None:
            raise RuntimeError("both events must be reached before the time between them is known")
        return float(end._at - self._at) / 1e6


class WorkerStream:
    """A queue of calls, and a thread that runs them in order."""

    def __init__(self, clock: Clock = CLOCK) -> None:
        self._clock = clock
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], int] | None] = queue.SimpleQueue()
        self._failure: BaseException | None = None
        self._submitted = self._done = 0
        self._thread = threading.Thread(target=self._run, name="gradtool-stream", daemon=True)
        self._thread.start()

    @property
    def ptr(self) -> int:
        """A number that identifies the stream."""
        return id(self)

    def _run(self) -> None:
        while (item := self._work.get()) is not None:
            work, count = item
            try:
                work()
            except BaseException as error:
                self._failure = error
            self._done += count

    def submit(self, work: Callable[[], Any]) -> None:
        """Queue a call."""
        self._submitted += 1
        self._work.put((work, 1))

    def query(self) -> bool:
        """Return True once all of its calls are done."""
        return self._done == self._submitted

    def synchronize(self) -> None:
        """Wait until all of its calls are done; raise the last error of any."""
        reached = threading.Event()
        self._work.put((reached.set, 0))
        reached.wait()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def wait_event(self, event: Any) -> None:
        """Let later calls wait for an event."""
        self.submit(event._reached.wait)

    def __enter__(self) -> WorkerStream:
        return self

    def __exit__(self, *failure: object) -> None:
        return None

    def close(self) -> None:
        """Run the remaining calls, and end the thread."""
        self._work.put(None)
        self._thread.join()

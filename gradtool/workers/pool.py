"""Has pieces of work done by workers, several at a time, and outlives every one of them."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from gradtool.errors import UsageError
from gradtool.run.executors.executor import WorkerFault
from gradtool.workers.channel import Reader, framed
from gradtool.workers.jobs import Job
from gradtool.workers.launch import launch
from gradtool.workers.messages import Exited, Fault, Fork, Idle, Kill, Ready, Refused, Reply
from gradtool.workers.messages import Report as NurseryReport
from gradtool.workers.worker_handle import Seat

_CHUNK = 2**16
_FAREWELL = 10.0
"""Seconds that the nursery may take to end its workers."""

_LONGEST_WAIT = 3600.0
"""Seconds after which it is asked again who is late: no system waits for a month at a time."""


class Pool:
    """Workers, at most `size` at a time.

    Use as a context manager: at its end no process is left.
    """

    def __init__(self, size: int) -> None:
        self.numpy = ""
        """The version that the workers have; known once something was done."""
        self.size = size
        self._seats: dict[int, Seat] = {}
        self._forked = 0
        self._waiting: deque[Job] = deque()
        self._reader: Reader[NurseryReport] = Reader(NurseryReport)  # type: ignore[arg-type]
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Pool:
        """Start the nursery; it loads what it needs while this process goes on."""
        launched = launch()
        self._nursery, self._control = launched.process, launched.control
        self._selector.register(self._control, selectors.EVENT_READ, self._hear_nursery)
        return self

    def __exit__(self, *error: object) -> None:
        """End every process."""
        self._selector.close()
        self._control.close()
        try:
            self._nursery.wait(_FAREWELL)
        except BaseException:  # An interrupt as well: then there is no time for farewells.
            self._nursery.kill()
            self._nursery.wait()
        for seat in self._seats.values():
            seat.close()

    def run(self, jobs: Sequence[Job]) -> None:
        """Have all of `jobs` done, begun in their order.

        Raises:
            UsageError: What one asks for is not there.
            WorkerFault: Gradtool itself failed in a worker, at a job that does not outlive it.
        """
        self._waiting.extend(jobs)
        while self._waiting or any(seat.job for seat in self._seats.values()) or not self.numpy:
            self._assign()
            for key, _ in self._selector.select(self._time_left()):
                if key.fd in self._selector.get_map():
                    key.data()
            self._kill_late()

    def _assign(self) -> None:
        """Give what is waiting to workers that are free; bring up new ones, up to the size."""
        while self._waiting:
            folder = self._waiting[0].folder
            free = [s for s in self._seats.values() if s.job is None and not s.leaving]
            seat = next((s for s in free if s.folder == folder), None)
            if seat is None and len(self._seats) < self.size:
                seat = self._fork(folder)
            if seat is None:
                for other in free[:1]:
                    self._dismiss(other)
                return
            seat.ask(self._waiting.popleft())

    def _fork(self, folder: Path) -> Seat:
        ours, theirs = socket.socketpair()
        output, words = os.pipe(), os.pipe()
        self._forked += 1
        seat = Seat(self._forked, ours, output[0], words[0], folder)
        with theirs:
            order = framed(Fork(number=seat.number))
            socket.send_fds(self._control, [order], [theirs.fileno(), output[1], words[1]])
        for end in (output[1], words[1]):
            os.close(end)
        os.set_blocking(output[0], False)
        ours.setblocking(False)
        self._seats[seat.number] = seat
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._hear(seat))
        self._selector.register(output[0], selectors.EVENT_READ, lambda: self._echo(seat))
        return seat

    def _dismiss(self, seat: Seat) -> None:
        """Ask nothing more of a worker."""
        seat.leaving = True
        self._kill(seat)

    def _kill(self, seat: Seat) -> None:
        with contextlib.suppress(ConnectionError):
            self._control.sendall(framed(Kill(number=seat.number)))

    def _time_left(self) -> float | None:
        ends = [s.job.until for s in self._seats.values() if s.job and s.job.until is not None]
        return min(max(min(ends) - time.monotonic(), 0), _LONGEST_WAIT) if ends else None

    def _kill_late(self) -> None:
        now = time.monotonic()
        for seat in self._seats.values():
            late = seat.job and seat.job.until is not None and seat.job.until <= now
            if late and not seat.out_of_time:
                seat.out_of_time = True
                self._kill(seat)
            if late and seat.job:
                seat.job.until = None

    def _hear(self, seat: Seat) -> bool:
        """Take what a worker says; whether there can be more."""
        replies, is_open = seat.replies()
        for reply in replies:
            self._take(seat, reply)
        if not is_open:
            self._selector.unregister(seat.end)
            if seat.garbled:
                self._kill(seat)
        return is_open

    def _take(self, seat: Seat, reply: Reply) -> None:
        match reply:
            case Refused(message=message):
                raise UsageError(message)
            case Fault() if seat.job is None or not seat.job.outlives_faults:
                raise WorkerFault(reply.told("In a worker"))
            case Idle(spoiled=spoiled):
                seat.job = None
                if spoiled:
                    self._dismiss(seat)
            case _ if seat.job is not None:
                seat.job.take(reply)

    def _echo(self, seat: Seat) -> bool:
        is_open = seat.echo()
        if not is_open:
            self._selector.unregister(seat.output)
        return is_open

    def _hear_nursery(self) -> None:
        data = self._control.recv(_CHUNK)
        if not data:
            raise WorkerFault("the process that workers are forked from has died")
        for report in self._reader.feed(data):
            match report:
                case Ready(numpy=numpy):
                    self.numpy = numpy
                case Exited():
                    self._bury(report)
                case Fault():
                    raise WorkerFault(report.told("In the nursery"))

    def _bury(self, exited: Exited) -> None:
        """A worker is gone: hear what it said last, and see to what it was busy with."""
        seat = self._seats[exited.number]
        for source, hear in ((seat.end, self._hear), (seat.output, self._echo)):
            while _is_heard(self._selector, source) and hear(seat):
                pass
        job, seat.job = seat.job, None
        if job is not None and not job.done:
            job.died(seat.death(exited))
            if not job.done:
                self._waiting.appendleft(job)
        del self._seats[exited.number]
        seat.close()


def _is_heard(selector: selectors.BaseSelector, source: socket.socket | int) -> bool:
    return source in selector.get_map()

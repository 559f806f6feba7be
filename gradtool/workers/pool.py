"""A pool of workers, which does several jobs at a time and survives the death of any worker."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Sequence
from math import inf
from signal import SIGKILL

import msgspec

from gradtool.errors import UsageError
from gradtool.workers import process_tree
from gradtool.workers.channel import KEY_SIZE, Garbled, Reader, framed
from gradtool.workers.deadline import deadline_after, is_over, seconds_to_first
from gradtool.workers.echo import Echo
from gradtool.workers.file_limits import most_workers
from gradtool.workers.jobs import Job
from gradtool.workers.launch import launch
from gradtool.workers.messages import (
    Exited,
    Fault,
    Fork,
    Idle,
    Kill,
    Ready,
    Refused,
    Reply,
    Report,
    Request,
    WorkerFault,
)
from gradtool.workers.worker_death import Death

_CHUNK = 2**16
_START_TIMEOUT = 120.0
"""Seconds in which a fork server should have loaded everything."""

_LOOK = 1.0
"""Seconds after which it is looked whether the fork server was stopped, where nothing happens."""

_STARTS = 2
"""Fork servers that may end before they are ready; a third would too."""

_OBEDIENCE = 10.0
"""Seconds within which the fork server ends a worker once asked to."""

_KEPT = range(8, 129)
"""Idle workers, fewest and most, that are kept for more work on their file, already imported."""

_KEPT_MEMORY = 1 / 8
"""Part of the memory that idle workers may fill."""

_IDLE_WORKER = 2**24
"""Bytes of an idle worker's own memory: those that it does not share with the fork server."""


class Pool:
    """Workers, at most `size` at work at a time. Each runs the code of one file only.

    What the code of a file does to its process can so change no verdict on another file. Use as a
    context manager: at its end no process is left.
    """

    def __init__(self, size: int) -> None:
        self.numpy = ""
        """NumPy's version in the workers; known once `run` has returned."""
        most = most_workers()
        self.size = min(size, most)
        fitting = int(_KEPT_MEMORY * process_tree.available_memory() / _IDLE_WORKER)
        self.kept = min(max(fitting, _KEPT.start), _KEPT[-1], most - self.size)
        """Idle workers that are kept at most."""
        self._workers: dict[int, WorkerHandle] = {}
        self._forked = 0
        self._waiting: deque[Job] = deque()
        self._suspects: deque[Job] = deque()
        """Jobs at work when the fork server died: each is done again, alone."""
        self._alone: Job | None = None
        """The suspect that is done now."""
        self._ready_by: float | None = None
        """Time on the monotonic clock by which the fork server should be ready; None once it is."""
        self._failed_starts = 0
        self._reader: Reader[Report] = Reader(Report)  # type: ignore[arg-type]
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Pool:
        """Start the fork server; it loads what it needs while this process goes on."""
        self._launch()
        return self

    def __exit__(self, *error: object) -> None:
        """End every process."""
        self._selector.close()
        self._fork_server.close()
        for worker in self._workers.values():
            worker.close()

    def run(self, jobs: Sequence[Job]) -> None:
        """Do all of `jobs`, started in their order.

        Raises:
            UsageError: A request names something that does not exist.
            WorkerFault: Gradtool itself failed in a worker, at a job that does not outlive it.
        """
        self._waiting.extend(jobs)
        while self._waiting or self._suspects or self._busy() or not self.numpy:
            self._assign()
            deadlines = [*self._deadlines(), time.monotonic() + _LOOK]
            for key, _ in self._selector.select(seconds_to_first(deadlines)):
                # An earlier event of the same round may have removed the worker.
                if self._selector.get_map().get(key.fd) == key:
                    key.data()
            self._kill_late()

    def _busy(self) -> int:
        return sum(worker.job is not None for worker in self._workers.values())

    def _assign(self) -> None:
        """Give waiting jobs to workers of their file; start new ones as far as the pool allows."""
        if self._ready_by is not None:  # The deadlines of jobs begin with them.
            return
        if self._suspects and not self._busy():
            self._alone = self._suspects.popleft()
            self._waiting.appendleft(self._alone)
        is_alone = self._suspects or (self._alone is not None and not self._alone.done)
        while self._waiting and self._busy() < (1 if is_alone else self.size):
            file = self._waiting[0].file
            free = [w for w in self._workers.values() if w.job is None and not w.leaving]
            worker = next((w for w in free if w.file == file), None)
            if worker is None and len(self._workers) < self.size + self.kept:
                worker = self._fork(file)
            if worker is None:
                self._dismiss_one(free)
                return
            worker.start(self._waiting.popleft())

    def _dismiss_one(self, free: Sequence[WorkerHandle]) -> None:
        """Make room, unless some worker is about to end: by a worker without work to come."""
        if not free or any(worker.leaving for worker in self._workers.values()):
            return
        files = {job.file for job in self._waiting}
        # The last one otherwise: work is given out in order, so its file comes last again.
        self._dismiss(next((w for w in reversed(free) if w.file not in files), free[-1]))

    def _fork(self, file: str) -> WorkerHandle:
        ours, theirs = socket.socketpair()
        output, traceback = os.pipe(), os.pipe()
        self._forked += 1
        key = os.urandom(KEY_SIZE)
        worker = WorkerHandle(self._forked, ours, output[0], traceback[0], file, Reader(Reply, key))  # type: ignore[arg-type]
        with theirs:
            order, control = framed(Fork(number=worker.number, key=key)), self._fork_server.control
            with contextlib.suppress(ConnectionError):  # Its death is heard next.
                socket.send_fds(control, [order], [theirs.fileno(), output[1], traceback[1]])
        # Held open here, the pipes would never report their end, which `_remove` reads up to.
        for end in (output[1], traceback[1]):
            os.close(end)
        # What a worker started may hold them open beyond the worker's end.
        for end in (output[0], traceback[0]):
            os.set_blocking(end, False)
        ours.setblocking(False)
        self._workers[worker.number] = worker
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._hear(worker))
        self._selector.register(output[0], selectors.EVENT_READ, lambda: self._echo(worker))
        return worker

    def _dismiss(self, worker: WorkerHandle) -> None:
        """End a worker that is free."""
        worker.leaving = True
        self._kill(worker)

    def _kill(self, worker: WorkerHandle) -> None:
        with contextlib.suppress(ConnectionError):
            self._fork_server.control.sendall(framed(Kill(number=worker.number)))

    def _deadlines(self) -> list[float | None]:
        jobs = [worker.job.deadline for worker in self._workers.values() if worker.job]
        return [self._ready_by, *jobs]

    def _kill_late(self) -> None:
        """Kill each worker whose job has passed its deadline, and a fork server that hangs."""
        if is_over(self._ready_by) or self._fork_server.is_stopped():
            self._fork_server.process.kill()
            self._ready_by = self._ready_by and inf
        for worker in self._workers.values():
            if worker.job is None or not is_over(worker.job.deadline):
                continue
            if worker.out_of_time:  # The fork server obeys no more: it was stopped.
                self._fork_server.process.kill()
                worker.job.deadline = None
                continue
            worker.out_of_time = True
            self._kill(worker)
            worker.job.deadline = deadline_after(_OBEDIENCE)

    def _hear(self, worker: WorkerHandle) -> bool:
        """Take the replies of a worker; return True while more may follow."""
        replies, is_open = worker.replies()
        for reply in replies:
            self._take(worker, reply)
        if not is_open:
            self._selector.unregister(worker.end)
            if worker.garbled:
                self._kill(worker)
        return is_open

    def _take(self, worker: WorkerHandle, reply: Reply) -> None:
        match reply:
            case Refused(message=message):
                raise UsageError(message)
            case Fault() if worker.job is None or not worker.job.outlives_faults:
                raise WorkerFault(reply.log("In a worker"))
            case Idle(spoiled=spoiled):
                worker.job = None
                if spoiled:
                    self._dismiss(worker)
            case _ if worker.job is not None:
                worker.job.take(reply)

    def _echo(self, worker: WorkerHandle) -> bool:
        is_open = worker.echo()
        if not is_open:
            self._selector.unregister(worker.output)
        return is_open

    def _hear_fork_server(self) -> None:
        try:
            data = self._fork_server.control.recv(_CHUNK)
        except ConnectionError:
            data = b""
        if not data:
            self._replace_fork_server()
        for report in self._reader.feed(data):
            match report:
                case Ready(numpy=numpy):
                    self.numpy, self._ready_by = numpy, None
                case Exited():
                    self._remove(report)
                case Fault():
                    raise WorkerFault(report.log("In the fork server"))

    def _launch(self) -> None:
        self._fork_server = launch()
        self._ready_by = time.monotonic() + _START_TIMEOUT
        control = self._fork_server.control
        self._selector.register(control, selectors.EVENT_READ, self._hear_fork_server)

    def _replace_fork_server(self) -> None:
        """Start another one, after it died and its workers with it.

        Any of their jobs may have killed it, or none. Each is done again alone, and takes the blame
        if that ends the fork server too.

        Raises:
            WorkerFault: It was not ready for work yet, nor was one before it.
        """
        self._failed_starts += self._ready_by is not None
        if self._failed_starts >= _STARTS:
            raise WorkerFault("the process that workers are forked from has died")
        self._selector.unregister(self._fork_server.control)
        self._fork_server.kill()
        for worker in self._workers.values():
            for source in (worker.end, worker.output):
                if _is_open(self._selector, source):
                    self._selector.unregister(source)
            if worker.job is self._alone and self._alone is not None:
                self._blame(worker, self._alone, Exited(number=worker.number, status=SIGKILL))
            elif worker.job is not None and not worker.job.done:
                self._suspects.append(worker.job)
            worker.close()
        self._workers.clear()
        self._launch()

    def _blame(self, worker: WorkerHandle, job: Job, exited: Exited) -> None:
        """Let a job record the end of its worker, and do what is left of it."""
        job.died(worker.death(exited))
        if not job.done:
            self._waiting.appendleft(job)

    def _remove(self, exited: Exited) -> None:
        """Take the last replies of a worker that has ended, and see to its job."""
        worker = self._workers[exited.number]
        # What it sent just before its end may arrive after the report of it.
        for source, hear in ((worker.end, self._hear), (worker.output, self._echo)):
            while _is_open(self._selector, source) and hear(worker):
                pass
        job, worker.job = worker.job, None
        if job is not None and not job.done:
            self._blame(worker, job, exited)
        del self._workers[exited.number]
        worker.close()


def _is_open(selector: selectors.BaseSelector, source: socket.socket | int) -> bool:
    return source in selector.get_map()


class WorkerHandle(msgspec.Struct):
    """One worker."""

    number: int
    end: socket.socket
    output: int
    traceback: int
    file: str
    """The file whose code it runs."""
    reader: Reader[Reply]
    job: Job | None = None
    out_of_time: bool = False
    garbled: bool = False
    leaving: bool = False
    """It is given no more jobs."""
    _echo: Echo = msgspec.field(default_factory=Echo)

    def start(self, job: Job) -> None:
        """Give the worker a job."""
        self.job = job
        request: Request = job.begin()
        with contextlib.suppress(ConnectionError):  # The fork server reports its death.
            # Without blocking, `sendall` fails midway through a request larger than the buffer.
            self.end.setblocking(True)
            self.end.sendall(framed(request))
            self.end.setblocking(False)

    def replies(self) -> tuple[list[Reply], bool]:
        """Receive the replies that have arrived, and True while more may follow."""
        try:
            data = self.end.recv(_CHUNK)
        except BlockingIOError:
            return [], True
        # A worker that dies with a request unread resets the connection.
        except OSError:
            data = b""
        try:
            return self.reader.feed(data), bool(data)
        except Garbled:
            self.garbled = True
            return [], False

    def echo(self) -> bool:
        """Pass the worker's output on to standard error; return True while more may follow."""
        try:
            data = os.read(self.output, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._echo.feed(data)
        return bool(data)

    def death(self, exited: Exited) -> Death:
        """Everything that is known of the worker's end."""
        return Death(
            status=exited.status,
            traceback=self._read_traceback(),
            out_of_time=self.out_of_time,
            garbled=self.garbled,
            oom_killed=exited.oom_killed,
        )

    def _read_traceback(self) -> str:
        found = b""
        with contextlib.suppress(OSError):
            while data := os.read(self.traceback, _CHUNK):
                found += data
        return found.decode("utf-8", "backslashreplace")

    def close(self) -> None:
        """Close the pipes, and write what is left of the worker's output."""
        self._echo.feed(b"")
        self.end.close()
        os.close(self.output)
        os.close(self.traceback)

"""An `Executor` whose work is done on a Dask cluster that is there already.

A task is a discovery or a unit, and does it through a worker process of its own, as a run on one
machine would: checked code brings down that process, not the cluster's. The cluster has to
find the same files under the same paths, and the same gradtool.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from gradtool.checking.unit import Discovery, DiscoveryResult, Unit, UnitResult
from gradtool.checking.unit_progress import UnitProgress
from gradtool.config.options import Unwatched, Watcher
from gradtool.errors import UsageError
from gradtool.findings.could_not_run import import_terminated, termination_result
from gradtool.run.executors.executor import UnitResults
from gradtool.sandbox.termination import crashed

_PATIENCE = "10s"


@contextlib.contextmanager
def on_cluster(scheduler: str | None) -> Iterator[OnDask]:
    """The cluster for the time of a run.

    Raises:
        UsageError: Dask is not installed, or there is no cluster at the address.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise UsageError("--executor dask needs Dask: pip install 'gradtool[dask]'") from None
    try:
        client = distributed.Client(scheduler, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UsageError(f"--scheduler {scheduler}: no cluster at this address: {reason}") from None
    with client:
        _require_a_worker(scheduler, client)
        yield OnDask(distributed, client)


def _require_a_worker(scheduler: str | None, client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise UsageError(f"--scheduler {scheduler}: the cluster has no workers") from None


class OnDask:
    """The cluster does the pieces of work of a run."""

    def __init__(self, distributed: Any, client: Any) -> None:
        """Work through `client`, of the package `distributed`, which ships no types."""
        self._distributed = distributed
        self._client = client
        # pure=False: Dask would return another run's result of the same call.
        self._numpy: str = client.submit(_numpy, pure=False).result()

    @property
    def numpy(self) -> str:
        """The version of NumPy that the cluster has."""
        return self._numpy

    def require_devices(self, devices: Sequence[str]) -> None:
        """Refuse devices that a worker of the cluster has not."""
        self._all(partial(_require, tuple(devices)), [()])

    def discover(self, discoveries: Sequence[Discovery]) -> list[DiscoveryResult]:
        """The answers to discoveries."""
        answers = self._all(
            _discover, [msgspec.msgpack.encode(discovery) for discovery in discoveries]
        )
        return [
            _lost_discovery(discovery)
            if data is None
            else msgspec.msgpack.decode(data, type=DiscoveryResult)
            for discovery, data in zip(discoveries, answers, strict=True)
        ]

    def check(self, units: Sequence[Unit], watcher: Watcher) -> UnitResults:
        """Check units, as many at a time as the cluster has threads."""
        done: list[UnitResult | None] = [None] * len(units)
        try:
            for place, data in self._each(_check, [msgspec.msgpack.encode(unit) for unit in units]):
                done[place] = _told(units[place], data, watcher)
        except KeyboardInterrupt:
            return UnitResults(done, interrupted=True)
        return UnitResults(done)

    def collect(self, units: Sequence[Unit]) -> list[UnitResult]:
        """List the cases of units."""
        answers = self._all(_collect, [msgspec.msgpack.encode(unit) for unit in units])
        pairs = zip(units, answers, strict=True)
        return [_told(unit, data, Unwatched()) for unit, data in pairs]

    def _all(self, task: Callable[[Any], Any], given: Sequence[Any]) -> list[Any]:
        answers = [None] * len(given)
        for place, answer in self._each(task, given):
            answers[place] = answer
        return answers

    def _each(self, task: Callable[[Any], Any], given: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Places and answers as they arrive; None for a task that no worker survived.

        A task whose worker died is given to others as often as the scheduler's own setting
        ``allowed-failures`` says.
        """
        places = {
            self._client.submit(task, each, pure=False): place for place, each in enumerate(given)
        }
        try:
            for future in self._distributed.as_completed(places):
                try:
                    yield places[future], future.result()
                except self._distributed.KilledWorker:
                    yield places[future], None
        finally:
            # After an interrupt the cluster must not go on with work that nobody waits for.
            self._client.cancel(list(places))


def _told(unit: Unit, data: bytes | None, watcher: Watcher) -> UnitResult:
    """The result of a unit, reported to the watcher."""
    if data is None:
        lost = crashed("every cluster worker that ran it died")
        progress = UnitProgress(unit, watcher)
        return progress.close(termination_result(unit.node, lost, unit.settings, progress.location))
    done = msgspec.msgpack.decode(data, type=UnitResult)
    for case in done.function.cases:
        watcher.case_finished(unit.function, case)
    watcher.function_finished(unit.shown, done.function)
    return done


def _lost_discovery(discovery: Discovery) -> DiscoveryResult:
    lost = crashed("every cluster worker that ran it died")
    problem = import_terminated(discovery.shown, lost, discovery.settings, path=discovery.path)
    return DiscoveryResult(problem=problem)


# What follows runs on the cluster.


def _numpy(_: object = None) -> str:
    import numpy as np

    return np.__version__


def _require(devices: tuple[str, ...], _: object) -> None:
    from gradtool.config.resources import require_device

    for device in devices:
        require_device(device)


def _discover(data: bytes) -> bytes:
    from gradtool.run.executors.workers import InWorkers
    from gradtool.workers.pool import Pool

    discovery = msgspec.msgpack.decode(data, type=Discovery)
    with Pool(1) as pool:
        return msgspec.msgpack.encode(InWorkers(pool).discover([discovery])[0])


def _check(data: bytes) -> bytes:
    from gradtool.run.executors.workers import InWorkers
    from gradtool.workers.pool import Pool

    unit = msgspec.msgpack.decode(data, type=Unit)
    with Pool(1) as pool:
        results = InWorkers(pool).check([unit], Unwatched())
        results.require_sound()
        return msgspec.msgpack.encode(results.done[0])


def _collect(data: bytes) -> bytes:
    from gradtool.run.executors.workers import InWorkers
    from gradtool.workers.pool import Pool

    unit = msgspec.msgpack.decode(data, type=Unit)
    with Pool(1) as pool:
        return msgspec.msgpack.encode(InWorkers(pool).collect([unit])[0])

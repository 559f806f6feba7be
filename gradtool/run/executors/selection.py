"""Selection of the executor of a run.

Only the executor in use is imported: Dask is optional, and workers need no NumPy here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gradtool.config.options import ExecutionOptions
from gradtool.run.executors.executor import Executor
from gradtool.sandbox.debugger import debugging


@contextlib.contextmanager
def open_executor(options: ExecutionOptions) -> Iterator[Executor]:
    """Yield the executor that `options` select, open for the length of a run.

    Raises:
        UsageError: The executor is not available.
    """
    if options.executor == "dask":
        from gradtool.run.executors.dask import on_cluster

        with on_cluster(options.scheduler) as cluster:
            yield cluster
    elif options.isolation:
        from gradtool.run.executors.workers import isolated

        with isolated(options.jobs) as workers:
            yield workers
    else:
        from gradtool.run.executors.in_process import InProcess

        with debugging() if options.pdb else contextlib.nullcontext():
            yield InProcess()

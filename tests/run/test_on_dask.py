"""The same units on a cluster of two workers on this machine: the same report, and no loss."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gradtool.errors import UsageError
from gradtool.results.report import Report
from gradtool.run.runner import check
from tests.options import check_options
from tests.workers.hostile_functions import GOOD, Hostile, source

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, of which there are many.


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.scheduler, found = self._started(["dask.__main__", "scheduler", "--port", "0"], "tcp:")
        self.address = re.search(r"tcp://[\d.]+:\d+", found).group()  # type: ignore[union-attr]
        self.workers = [self.add_worker() for _ in range(2)]

    def add_worker(self) -> subprocess.Popen[str]:
        limits = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        return self._started(["dask.__main__", "worker", self.address, *limits], "Registered")[0]

    def _started(self, module: list[str], mark: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-m", *module],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        line = next(line for line in process.stderr if mark in line)
        return process, line

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("dask")
    (made / "good.py").write_text(source(GOOD))
    (made / "wrong.py").write_text(source(GOOD).replace("2 * grad_output", "3 * grad_output"))
    (made / "crash.py").write_text(source(Hostile("Aborts", "os.abort()", "GT005")))
    return made


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[Cluster]:
    made = Cluster(folder)
    yield made
    made.close()


def modules(report: Report) -> Any:
    plain = msgspec.to_builtins(report.modules)
    for module in plain:
        for function in module.get("functions", ()):
            for case in function.get("cases", ()):
                case.pop("seconds", None)
    return plain


def test_a_cluster_says_the_same(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    here = check(check_options(paths=(".",), isolation=True))
    there = check(
        check_options(paths=(".",), isolation=True, executor="dask", scheduler=cluster.address)
    )
    assert modules(there) == modules(here)
    assert [finding.rule for finding in there.findings()] == ["GT005", "GT101"]
    assert there.environment == here.environment


def test_a_worker_that_dies_loses_nothing(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)

    class Assassin:
        def __init__(self) -> None:
            self.struck = False

        def started(self, functions: int) -> None:
            cluster.workers[0].kill()
            self.struck = True

        def __getattr__(self, name: str) -> Any:
            return lambda *_: time.sleep(0)

    watcher = Assassin()
    options = check_options(
        paths=("good.py", "wrong.py"), isolation=True, executor="dask", scheduler=cluster.address
    )
    report = check(options, watcher)
    assert watcher.struck
    assert [finding.rule for finding in report.findings()] == ["GT101"]
    assert len(list(report.functions())) == 2


def test_no_cluster_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("gradtool.run.executors.dask._PATIENCE", "1s")
    options = check_options(
        paths=("good.py",), isolation=True, executor="dask", scheduler="tcp://127.0.0.1:1"
    )
    with pytest.raises(UsageError, match=r"--scheduler tcp://127\.0\.0\.1:1: no cluster there"):
        check(options)

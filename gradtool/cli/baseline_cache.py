"""Files that runs leave for later ones: the baseline, and the cache of what failed.

Both are read before the work, so that a file which cannot be read stops the run at once,
and written after it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gradtool.cli.options.groups import HistoryGroup
from gradtool.cli.output.destinations import Destination, claim_file, locked, replace
from gradtool.cli.replay import cached
from gradtool.config.options import CheckOptions
from gradtool.errors import UsageError
from gradtool.policy import last_run
from gradtool.policy.baseline import (
    FILE_NAME,
    Baseline,
    entries_of,
    is_whole,
    obsolete,
    read_baseline,
)
from gradtool.policy.changes import add_notices, apply
from gradtool.policy.pipeline import policies_of_history
from gradtool.report.rows import Row, rows
from gradtool.report.verdicts import STOPPING
from gradtool.results.report import Report
from gradtool.run.base_commit import BaseCommit
from gradtool.sandbox.interrupts import gently_terminated


class RunHistory:
    """The baseline and the cache of a run, read before it and written after it."""

    def __init__(
        self,
        history: HistoryGroup,
        options: CheckOptions,
        baseline: Baseline | None,
        place: Destination | None,
    ) -> None:
        self._history = history
        self._baseline = baseline
        self._place = place
        self._notices: list[str] = []
        self._commit = (
            None
            if history.baseline_commit is None
            else BaseCommit(history.baseline_commit, options)
        )
        failed = tuple(sorted(self._read_failed()))
        self.options = msgspec.structs.replace(
            options,
            selection=msgspec.structs.replace(
                options.selection, only_failed=failed if history.last_failed else None
            ),
            execution=msgspec.structs.replace(
                options.execution, first=failed if history.failed_first else ()
            ),
        )
        """The options of the run."""

    def settled(self, report: Report) -> Report:
        """Mark known findings, and write the baseline and the cache.

        Raises:
            UsageError: The baseline cannot be written, or the other commit not be checked.
        """
        baseline = self._baseline and self._settle(self._baseline, report)
        find_at_base = None if self._commit is None else self._commit.findings
        report = apply(policies_of_history(baseline, find_at_base), report)
        if not self._history.no_cache and not report.interrupted and not report.faults:
            self._remember(report)
        return add_notices(report, self._notices)

    def _settle(self, baseline: Baseline, report: Report) -> Baseline:
        """Write the baseline as it is after the run."""
        gone = obsolete(baseline, report, self.options)
        if self._place is None:
            return self._shrunk(baseline, len(gone), baseline.without(gone))
        if report.interrupted:
            self._notices.append(f"{self._name}: not written because the run was interrupted")
            return baseline
        found = frozenset(entries_of(baseline, report).values())
        written = baseline.without(gone).joined(found)
        with _write_errors_named(self._name):
            self._place.put(written.text())
        added = len(written.entries - baseline.entries)
        self._notices.append(f"{self._name}: {_entries(added)} added, {len(gone)} removed")
        return written

    def _shrunk(self, baseline: Baseline, count: int, smaller: Baseline) -> Baseline:
        if not count:
            return baseline
        gone = f"{self._name}: {_entries(count)} no longer found"
        it, was = ("it", "it was") if count == 1 else ("them", "they were")
        # The checkout of a CI job is thrown away, and the change to the file with it.
        if os.environ.get("CI"):
            self._notices.append(f"{gone}; a run outside CI will remove {it}")
            return baseline
        try:
            replace(baseline.path, smaller.text())
        except OSError as error:
            self._notices.append(f"{gone}, but cannot be removed: {_reason(error)}")
        else:
            self._notices.append(f"{gone}, so {was} removed")
        return smaller

    @property
    def _name(self) -> str:
        return self._history.baseline or FILE_NAME

    def _read_failed(self) -> frozenset[str]:
        try:
            return last_run.read_failed(Path()) if not self._history.no_cache else frozenset()
        except last_run.UnreadableError as error:
            what = (
                f"{last_run.FOLDER}/{last_run.FILE} cannot be used and will be recreated: {error}"
            )
            self._notices.append(f"warning: {what}")
            return frozenset()

    def _remember(self, report: Report) -> None:
        folder = Path(last_run.FOLDER)
        try:
            if self._changed_files(report):
                _make_folder(folder)
                # Another run may have written since this one began: what it knows is kept.
                with locked(folder):
                    for name, text in self._changed_files(report).items():
                        replace(folder / name, text)
        except OSError as error:
            self._notices.append(f"warning: {last_run.FOLDER} cannot be written: {_reason(error)}")

    def _changed_files(self, report: Report) -> dict[str, str]:
        """The files of the cache that differ after the run, with their content."""
        try:
            before = last_run.read_failed(Path())
        except last_run.UnreadableError:
            before = None  # It is recreated.
        failing = {_node(row) for row in rows(report) if row.verdict in STOPPING}
        whole = is_whole(self.options.selection)
        failed = last_run.updated(before or frozenset(), report, failing, is_whole=whole)
        files = cached(report)
        return files if failed == before else {**files, last_run.FILE: last_run.text(failed)}


@contextlib.contextmanager
def open_history(history: HistoryGroup, options: CheckOptions) -> Iterator[RunHistory]:
    """Open the baseline and the cache for the length of a run.

    Raises:
        UsageError: The baseline cannot be read or written, or there is no commit to compare with.
    """
    name = history.baseline_file
    if (history.last_failed or history.failed_first) and history.no_cache:
        flag = "--lf" if history.last_failed else "--ff"
        raise UsageError(f"{flag} needs the cache: omit --no-cache")
    baseline = None if name is None else read_baseline(name, may_be_new=history.write_baseline)
    with gently_terminated(), contextlib.ExitStack() as stack:
        place = None
        if history.write_baseline and name is not None:
            # Claimed before the run, so that a long one does not end in a file that cannot be
            # written.
            with _write_errors_named(name):
                place = claim_file(Path(name))
            stack.callback(place.close)
        yield RunHistory(history, options, baseline, place)


def _node(row: Row) -> str:
    """The node that ``--lf`` selects: the Function, or the module that did not import."""
    return row.module.path if row.function is None else f"{row.module.path}::{row.function.name}"


@contextlib.contextmanager
def _write_errors_named(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"baseline {name} cannot be written: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _make_folder(path: Path) -> None:
    """Make the cache's folder, complete or not at all."""
    if path.is_dir():
        return
    made = Path(tempfile.mkdtemp(prefix=f"{path.name}.", dir=path.parent))
    try:
        for name, text in last_run.FILES.items():
            (made / name).write_text(text, encoding="utf-8")
        # mkdtemp makes folders that only their owner can read.
        made.chmod(0o755)
        # A rename is atomic: another run sees the whole folder or none.
        made.rename(path)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        if not path.is_dir():  # Another run was faster.
            raise

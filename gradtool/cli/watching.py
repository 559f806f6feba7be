"""``gradtool check --watch``: check again what a saved file affects, until Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gradtool.cli.errors import refuse
from gradtool.cli.exit_codes import ExitCode
from gradtool.errors import UsageError
from gradtool.report.rows import module_rows
from gradtool.report.verdicts import STOPPING
from gradtool.report.words import listed
from gradtool.results.paths import shown_path
from gradtool.results.report import Report
from gradtool.run.run_plan import RunPlan

if TYPE_CHECKING:
    from gradtool.config.options import CheckOptions

Check = Callable[["CheckOptions"], tuple[Report, ExitCode]]
"""Makes a run, prints its report, and returns both."""

_WAITING = "waiting for changes; press Ctrl-C to stop"
_LOOK_EVERY = 100
"""Milliseconds: how long the first look takes, and how soon Ctrl-C is noticed."""


def watch(options: CheckOptions, check: Check) -> ExitCode:
    """Run once, then recheck what changed whenever a file is saved.

    A run that cannot start is reported, and what it should have checked is checked after the
    next change.

    Returns:
        The exit code of a run that was interrupted.

    Raises:
        KeyboardInterrupt: The user ended it between two runs.
        UsageError: The first run cannot start, or watchfiles is not installed.
    """
    changes = _changes(options)
    state = _State()
    report, code = check(options)
    state.update(report)
    _say(state.closing(report))
    pending: frozenset[str] = frozenset()
    for changed in filter(None, changes):
        pending |= changed
        try:
            narrowed = _narrowed(options, pending)
            if not RunPlan(narrowed).selection.targets:
                continue
            _clear()
            _say(f"changed: {listed(sorted(map(_shown, changed)))}")
            report, code = check(narrowed)
        except UsageError as error:
            refuse(str(error))
            _say(_WAITING)
            continue
        if report.interrupted:
            break
        pending = frozenset()
        state.update(report)
        _say(state.closing(report))
    return code


def _changes(options: CheckOptions) -> Iterator[frozenset[str]]:
    """Sets of real paths of Python files and configurations that were saved together.

    Files are watched from here on: a change during the first run counts. A set is empty if
    nothing was saved for a while.

    Raises:
        UsageError: There is nothing to watch, or watchfiles is not installed.
    """
    try:
        import watchfiles
    except ImportError:
        raise UsageError("--watch needs watchfiles: pip install 'gradtool[watch]'") from None
    folders = RunPlan(options).folders()
    wanted = watchfiles.PythonFilter(extra_extensions=(".yaml", ".yml"))
    found = watchfiles.watch(
        *folders, watch_filter=wanted, rust_timeout=_LOOK_EVERY, yield_on_timeout=True
    )
    seen = next(found, set())  # It watches only from its first look on.
    return (frozenset(path for _, path in batch) for batch in chain([seen], found))


def _narrowed(options: CheckOptions, changed: Iterable[str]) -> CheckOptions:
    files = tuple(str(Path(path).resolve()) for path in sorted(changed))
    selection = msgspec.structs.replace(options.selection, changed_files=files)
    return msgspec.structs.replace(options, selection=selection)


class _State:
    """Cases that failed when they were last checked."""

    def __init__(self) -> None:
        self._failed: dict[str, list[str]] = {}
        """Node ids by the paths of their modules."""

    def update(self, report: Report) -> None:
        """Update what is known about the modules of a run."""
        for module in report.modules:
            found = module_rows(module, strict=report.strict)
            self._failed[module.path] = [row.node_id for row in found if row.verdict in STOPPING]

    def closing(self, report: Report) -> str:
        """The line after a run: failures that it did not check again, and how to go on."""
        checked = {module.path for module in report.modules}
        others = [
            node
            for path, nodes in self._failed.items()
            if path not in checked and Path(path).exists()
            for node in nodes
        ]
        still = f"still failing: {listed(others)}\n" if others else ""
        return f"{still}{_WAITING}"


def _shown(path: str) -> str:
    return shown_path(Path(path))


def _clear() -> None:
    """Clear a terminal, so that only the last run is visible."""
    if sys.stdout.isatty():
        print("\x1b[2J\x1b[3J\x1b[H", end="", flush=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

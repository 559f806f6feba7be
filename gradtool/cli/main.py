"""The ``gradtool`` command from its first moment: workers load while the options are read."""

from __future__ import annotations

import atexit
import os
import sys

_WITH_WORKERS = {"check", "profile"}
_WITHOUT = {"--no-isolation", "--pdb", "-h", "--help"}
"""Options that need no worker."""

_INTERRUPTED = 130
_USAGE = 2
"""As `gradtool.cli.exit_codes` has them, which may not have been loaded yet."""

_OF_SIGNALS = 128
"""Exit codes of a run that a signal ended are larger."""


def run() -> None:
    """Run the command line of this process, and end it: never returns."""
    arguments, code = sys.argv[1:], main()
    if _wants_workers(arguments):
        _leave(code)
    raise SystemExit(code)


def _leave(code: int) -> None:
    """End a process in which no checked code ran, without taking its modules apart first.

    That takes longer than to write a report. Returns where there is more to do than that.
    """
    import threading

    is_alone = threading.active_count() == 1
    if is_alone:
        atexit._run_exitfuncs()
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except (AttributeError, OSError, ValueError):
            # Python has words and a code of its own for that. A terminal that closed needs neither.
            if code <= _OF_SIGNALS:
                return
            setattr(sys, name, None)
    if is_alone:
        os._exit(code)


def main() -> int:
    """Run the command line of this process and return the exit code; never raises."""
    try:
        return _main(sys.argv[1:])
    except KeyboardInterrupt:  # While the command line was still being loaded.
        return _INTERRUPTED


def _main(arguments: list[str]) -> int:
    if obstacle := _obstacle():
        print(f"error: {obstacle}", file=sys.stderr)
        return _USAGE
    if not _wants_workers(arguments):
        from gradtool.cli.app import main

        return main(arguments)
    return _with_head_start(arguments)


def _obstacle() -> str | None:
    """Return the reason why no command can run in this process, if there is one."""
    if sys.flags.optimize > 1:
        return "Python strips the docstrings that hold the help and the rules; unset PYTHONOPTIMIZE"
    try:
        os.getcwd()  # noqa: PTH109 - `pathlib` takes longer to import than the rest
    except OSError:
        return "the current folder no longer exists; change to another one"
    return None


def _wants_workers(arguments: list[str]) -> bool:
    return (
        bool(_WITH_WORKERS.intersection(arguments[:1]))
        and _WITHOUT.isdisjoint(arguments)
        # Windows has none.
        and hasattr(os, "fork")
    )


def _with_head_start(arguments: list[str]) -> int:
    from gradtool.workers.launch import call_off, launch_ahead

    # Before the command line is imported, so that the fork server loads at the same time.
    launch_ahead()
    try:
        from gradtool.cli.app import main

        return main(arguments)
    finally:
        call_off()

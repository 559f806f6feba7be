"""The one place where an exception becomes an exit code and a line on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable

from gradtool.cli.exit_codes import ExitCode, interrupted
from gradtool.cli.output.streams import has_hung_up


def guarded(action: Callable[[], ExitCode], *, command: str, verbose: bool = False) -> ExitCode:
    """Run `action`, which returns an exit code, and turn any exception into one.

    Args:
        action: What to do.
        command: The command line, for the log of a crash.
        verbose: Print the traceback of a crash too.
    """
    from gradtool.errors import UsageError

    try:
        return action()
    except UsageError as error:
        return refuse(str(error))
    except (KeyboardInterrupt, BrokenPipeError):
        return interrupted()
    except BaseException as error:
        if isinstance(error, OSError) and has_hung_up(error):
            return interrupted()
        # SystemExit as well: checked code that ends the process must not choose its exit code.
        return _report_bug(error, command, verbose)


def refuse(message: str) -> ExitCode:
    """Say in one line why the command cannot run as given."""
    print(f"error: {message}", file=sys.stderr)
    return ExitCode.USAGE


def _report_bug(error: BaseException, command: str, verbose: bool) -> ExitCode:
    # Imported here, as only a crash needs it.
    import traceback

    from gradtool.cli.crash_log import write_crash_log

    if verbose:
        traceback.print_exception(error)
    path = write_crash_log(error, command)
    log = (
        f"please report it and attach {path}"
        if path
        else "no log could be written; -v shows the traceback"
    )
    what = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    print(f"internal error: {what}; this is a bug in gradtool: {log}", file=sys.stderr)
    return ExitCode.INTERNAL

"""State of the process around the user's code, restored after it has run.

Changes that one Function makes to the current folder, the environment, the standard streams or
the handlers of signals must not affect the results of the next.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator

_SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGCHLD", "SIGPIPE", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
]


@contextlib.contextmanager
def preserved_process_state(*, environment: bool = True) -> Iterator[None]:
    """Restore after the block the process state that it changed.

    Args:
        environment: Restore the environment's variables too. A module that sets some when it is
            imported may rely on them later.
    """
    import numpy as np  # Late: the process that reports imports this module without NumPy.

    with contextlib.ExitStack() as stack:
        with contextlib.suppress(FileNotFoundError):  # Removed by code that ran before.
            stack.callback(_restore_folder, os.getcwd())  # noqa: PTH109 - to go back to
        stack.callback(_restore_streams, (sys.stdin, sys.stdout, sys.stderr))
        stack.callback(sys.setrecursionlimit, sys.getrecursionlimit())
        stack.callback(np.seterr, **np.geterr())
        stack.callback(_restore_handlers, {each: signal.getsignal(each) for each in _SIGNALS})
        stack.enter_context(warnings.catch_warnings())
        if environment:
            stack.callback(_restore_environment, dict(os.environ))
        yield


def _restore_folder(folder: str) -> None:
    with contextlib.suppress(OSError):  # The folder itself may be gone.
        os.chdir(folder)


def _restore_streams(streams: tuple[object, object, object]) -> None:
    for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
        setattr(sys, name, stream)


def _restore_environment(variables: dict[str, str]) -> None:
    if dict(os.environ) != variables:
        os.environ.clear()
        os.environ.update(variables)


def _restore_handlers(handlers: dict[signal.Signals, object]) -> None:
    # Python lets only the main thread set handlers.
    if threading.current_thread() is not threading.main_thread():
        return
    for number, handler in handlers.items():
        # None stands for a handler installed by C code, which Python cannot set again.
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)  # type: ignore[arg-type]  # what getsignal gave

"""Calls deeper than the stack of one thread allows."""

from __future__ import annotations

import threading
from collections.abc import Callable

from gradtool.engine._modes import modes


def call_in_new_thread(function: Callable[[], None]) -> None:
    """Call `function` in a thread of its own, under the modes of this one, and wait for it.

    Raises:
        BaseException: what the function raises.
    """
    held = dict(vars(modes))
    raised: list[BaseException] = []

    def run() -> None:
        vars(modes).update(held)
        try:
            function()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised.pop()

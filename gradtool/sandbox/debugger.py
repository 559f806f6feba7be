"""``--pdb``: the debugger, opened at the line of the checked code that raised."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import TracebackType

_seen: set[object] | None = None
"""Places at which it was opened in this run; None without ``--pdb``."""


@contextlib.contextmanager
def debugging() -> Iterator[None]:
    """Open the debugger for every error of the user's code in the block, once for each line."""
    global _seen
    _seen = set()
    try:
        yield
    finally:
        _seen = None


def is_enabled() -> bool:
    """Return True if this run opens the debugger."""
    return _seen is not None


def debug(error: BaseException, is_internal: Callable[[str], bool]) -> None:
    """Open the debugger at the innermost line that is not internal to gradtool."""
    if _seen is None:
        return
    frames = _frames(error.__traceback__)
    while frames and is_internal(frames[-1].tb_frame.f_code.co_filename):
        frames.pop()
    if not frames or (place := _place(error, frames[-1])) in _seen:
        return
    _seen.add(place)
    import pdb

    print(f"{type(error).__name__}: {error}", file=sys.stdout)
    pdb.post_mortem(_with_frames(frames))


def _frames(trace: TracebackType | None) -> list[TracebackType]:
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    return frames


def _place(error: BaseException, frame: TracebackType) -> object:
    return type(error), frame.tb_frame.f_code, frame.tb_lineno


def _with_frames(frames: list[TracebackType]) -> TracebackType:
    """A traceback of these frames alone, at whose end the debugger starts."""
    trace: TracebackType | None = None
    for each in reversed(frames):
        trace = TracebackType(trace, each.tb_frame, each.tb_lasti, each.tb_lineno)
    assert trace is not None
    return trace

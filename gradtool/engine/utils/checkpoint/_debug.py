"""The operations of both calls, for the error that says they differ."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from gradtool.engine._profiling.hooks import listening
from gradtool.engine._profiling.recorder import Recorder, Span

_OURS = str(Path(__file__).parents[3])
_enabled: bool | None = None


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Decide for the block if checkpoints log their operations; None leaves it to their `debug`."""
    global _enabled
    before, _enabled = _enabled, enabled
    try:
        yield
    finally:
        _enabled = before


def is_debugging(debug: bool) -> bool:
    """Return True if operations are to be logged, as the block around or else the caller says."""
    return debug if _enabled is None else _enabled


class _Entry(NamedTuple):
    operation: str
    places: list[str]


class Logs:
    """The operations of the first call and of the second one."""

    def __init__(self) -> None:
        self._first: list[_Entry] = []
        self._second: list[_Entry] = []

    def contexts(self) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        """Return the context that logs the first call, and that for the second one."""
        return _logging(self._first), _logging(self._second)

    def explain(self) -> str:
        """Return the text of the error."""
        return _TEXT.format(
            first_traces=_traces(self._first, "original"),
            second_traces=_traces(self._second, "recompute"),
            first="\n".join(each.operation for each in self._first),
            second="\n".join(each.operation for each in self._second),
        )


class _Logger(Recorder):
    """A recorder of no times, which notes the operations that the user's code calls."""

    def __init__(self, log: list[_Entry]) -> None:
        super().__init__(clock=lambda: 0)
        self._log = log

    def enter(self, name: str, args: Sequence[Any] = (), number: int = -1) -> Span | None:
        """Note an operation, unless it is part of another one."""
        if not self._open:
            self.spans.clear()
            self._log.append(_Entry(name, _places()))
        return super().enter(name, args, number)


@contextlib.contextmanager
def _logging(log: list[_Entry]) -> Iterator[None]:
    log.clear()
    with listening(_Logger(log)):
        yield


def _places() -> list[str]:
    """Return the lines of the user's that led to an operation, innermost first."""
    return [
        f"{frame.filename}:{frame.lineno}:{frame.name}"
        for frame in reversed(traceback.extract_stack())
        if not frame.filename.startswith(_OURS)
    ]


def _traces(log: list[_Entry], label: str) -> str:
    return "\n\n".join(
        "\n".join([f"{each.operation}   ({number} of {len(log)} in {label})", "", *each.places])
        for number, each in enumerate(log, 1)
    )


_TEXT = """An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.

ERROR: Detected non-determinism while running activation checkpointing

You are seeing this error because you passed `debug=True` to checkpoint and tensors to be saved
during the original forward and recomputation differ. Compare the operations of both to find where;
the code that ran each of them follows.

Operations executed during the original forward:

{first}

Operations executed during recomputation:

{second}

Stack traces of the operators that ran in the original forward:

{first_traces}

Stack traces of the operators that ran during recomputation:

{second_traces}
"""

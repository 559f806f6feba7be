"""Standard streams that cannot turn a verdict into a crash.

A stream may be closed, may not encode what a user's message holds, or may lose its reader
half-way (``gradtool check ops | head``). None of this changes what the run found out.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO


def prepare() -> None:
    """Make standard output and error accept any text, and exist."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nothing = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open
            setattr(sys, name, nothing)
        elif isinstance(stream, io.TextIOWrapper):
            codecs.register_error(_NARROW, _in_ascii)
            stream.reconfigure(errors=_NARROW)


_NARROW = "gradtool.narrow"
"""Name of the handler of characters that a stream cannot encode."""

_IN_ASCII = {"±": "+/-", "…": "~", "²": "^2", "√": "sqrt", "·": "*"}


def _in_ascii(error: UnicodeError) -> tuple[str | bytes, int]:
    """Spell the characters of gradtool's own texts in ASCII, and escape all others.

    The sign at the end of a line that was cut to the width of the terminal stays one column wide.
    """
    if isinstance(error, UnicodeEncodeError):
        character = error.object[error.start]
        if character in _IN_ASCII:
            return _IN_ASCII[character], error.start + 1
    return codecs.backslashreplace_errors(error)


@contextlib.contextmanager
def reader_may_leave(stream: TextIO) -> Iterator[None]:
    """Write to `stream` inside; if its reader goes away, the rest is dropped quietly.

    Raises:
        UsageError: It cannot be written for another reason, such as a full disk.
    """
    from gradtool.errors import UsageError

    try:
        yield
        stream.flush()
    except BrokenPipeError:
        _discard(stream)
    except OSError as error:
        _discard(stream)
        raise UsageError(f"the output cannot be written: {error.strerror}") from None


def _discard(stream: TextIO) -> None:
    """Point the stream at nothing, so that the interpreter's last flush succeeds too."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)

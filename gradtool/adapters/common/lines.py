"""Which lines of a Function's own methods can be executed, and which are."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import SourceLine

_METHODS = ("forward", "setup_context", "backward", "vjp", "jvp", "vmap")


def lines_of(function: type[Any] | None) -> frozenset[SourceLine]:
    """The lines that can be executed, those of functions inside the methods included."""
    return frozenset(
        SourceLine(method, code.co_filename, line)
        for code, method in _codes(function).items()
        for line in _executable(code)
    )


@contextmanager
def traced(function: type[Any] | None) -> Iterator[set[SourceLine]]:
    """Collect the lines that this thread executes in the block.

    A tracer that is set already, as by a debugger or to measure coverage, rests meanwhile.
    """
    codes = _codes(function)
    seen: set[SourceLine] = set()

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            code = frame.f_code
            seen.add(SourceLine(codes[code], code.co_filename, frame.f_lineno))
        return on_line

    def on_call(frame: FrameType, _event: str, _: Any) -> Any:
        return on_line if frame.f_code in codes else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        yield seen
    finally:
        sys.settrace(before)


def _codes(function: type[Any] | None) -> dict[CodeType, str]:
    """The code of the methods that the user wrote, by the method that it is part of."""
    codes: dict[CodeType, str] = {}
    for name in _METHODS if function is not None else ():
        method = getattr(function, name)
        if method is not getattr(library().Function, name):
            code = getattr(inspect.unwrap(method), "__code__", None)
            codes |= dict.fromkeys(_with_inner(code), name) if code is not None else {}
    return codes


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)


def _executable(code: CodeType) -> set[int]:
    """Line numbers of the body; that of ``def`` itself is not among them, unless shared."""
    starts = {line for _, _, line in code.co_lines() if line is not None}
    return starts if len(starts) == 1 else starts - {code.co_firstlineno}

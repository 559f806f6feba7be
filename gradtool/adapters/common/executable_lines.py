"""Lines of a Function's own methods: all that can be executed, and those that were."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import SourceLine

_METHODS = ("forward", "setup_context", "backward", "vjp", "jvp", "vmap")


Lines = Mapping[CodeType, Mapping[int, SourceLine]]
"""For each code object the lines that can be executed, by their numbers."""


def lines_of(function: type[Any] | None) -> Lines:
    """Return the lines that can be executed, also those of functions inside the methods."""
    return {
        code: {line: SourceLine(method, code.co_filename, line) for line in _executable(code)}
        for code, method in codes_of(function).items()
    }


@contextmanager
def traced(lines: Lines, seen: set[SourceLine]) -> Iterator[None]:
    """Add to `seen` the `lines` that this thread executes in the block.

    Nothing is traced once all of them were seen, because tracing slows down all calls in the block.
    A tracer that a debugger or a coverage tool has set is off meanwhile.
    """
    left = {code: each for code, each in lines.items() if not seen.issuperset(each.values())}
    if not left:
        yield
        return

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        line = lines[frame.f_code].get(frame.f_lineno) if event == "line" else None
        if line is not None:
            seen.add(line)
        return on_line

    def on_call(frame: FrameType, _event: str, _: Any) -> Any:
        each = left.get(frame.f_code)
        if each is None:
            # None keeps Python from tracing the lines of everything else, which would be slow.
            return None
        if not seen.issuperset(each.values()):
            return on_line
        del left[frame.f_code]
        if not left:
            sys.settrace(None)
        return None

    with tracing(on_call):
        yield


@contextmanager
def tracing(trace: Callable[..., Any] | None) -> Iterator[None]:
    """Trace the calls of this thread in the block by `trace` alone; None traces nothing."""
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def codes_of(function: type[Any] | None) -> dict[CodeType, str]:
    """Map the code of the user's methods, and of functions inside, to the method's name."""
    codes: dict[CodeType, str] = {}
    for name in _METHODS if function is not None else ():
        method = getattr(function, name)
        if method is not getattr(library().Function, name):
            # Decorators such as once_differentiable have code of their own.
            code = getattr(inspect.unwrap(method), "__code__", None)
            codes |= dict.fromkeys(_with_inner(code), name) if code is not None else {}
    return codes


def codes_with_helpers(function: type[Any] | None) -> dict[CodeType, str]:
    """Map also the code of functions of the user's module that the methods call, to their names."""
    codes = codes_of(function)
    spaces = {code.co_filename: _globals(function, name) for code, name in codes.items()}
    left = list(codes)
    while left:
        code = left.pop()
        for name in code.co_names:
            helper = spaces.get(code.co_filename, {}).get(name)
            inner = getattr(inspect.unwrap(helper), "__code__", None) if callable(helper) else None
            if inner is not None and inner.co_filename == code.co_filename and inner not in codes:
                added = dict.fromkeys(_with_inner(inner), name)
                codes |= added
                left += added
    return codes


def _globals(function: type[Any] | None, method: str) -> dict[str, Any]:
    return getattr(inspect.unwrap(getattr(function, method)), "__globals__", {})


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)


def _executable(code: CodeType) -> set[int]:
    """Return the line numbers of the body, without that of ``def`` unless both share it."""
    starts = {line for _, _, line in code.co_lines() if line is not None}
    return starts if len(starts) == 1 else starts - {code.co_firstlineno}

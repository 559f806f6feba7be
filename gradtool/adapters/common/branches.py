"""Branches of a Function's own methods: the sides of each that a call takes.

A conditional jump of Python has two sides, that of a true test and that of a false one; a loop runs
and ends. The tests are those of ``if``, ``while``, ``for``, conditional expressions, ``and``,
``or`` and the conditions of comprehensions. A test that only guards a ``raise`` is no branch.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from gradtool.adapters.common.executable_lines import codes_with_helpers, tracing
from gradtool.adapters.common.parsed_source import parsed

OTHERS = ("jvp", "vmap")
"""Methods whose branches are not counted."""

_MOST_STEPS = 100_000
"""Instructions to trace in one block: a long loop shows nothing new."""

Span = tuple[int, int, int, int]
"""First line, last line, first column and last column of an expression, columns in bytes."""


class Branch(NamedTuple):
    """A place where a method goes one way or another."""

    method: str
    path: str
    span: Span

    @property
    def line(self) -> int:
        """The number of its first line."""
        return self.span[0]


class Side(NamedTuple):
    """One way on from a branch."""

    branch: Branch
    name: str
    """The condition under which it is taken, such as ``is true`` or ``runs``."""


class _Jump(NamedTuple):
    branch: Branch
    fallthrough: int
    """Offset of the instruction after the jump."""
    names: tuple[str, str]
    """Names of the side that falls through, and of the one that jumps."""


Jumps = Mapping[CodeType, Mapping[int, _Jump]]
"""For each code object its branches by the offset of the jump."""


def jumps_of(function: type[Any] | None) -> Jumps:
    """Return the branches of the methods, and of functions that these contain or call."""
    codes = codes_with_helpers(function)
    return {
        code: jumps
        for code, method in codes.items()
        if method not in OTHERS and (jumps := _jumps(code, method))
    }


def sides_of(jumps: Jumps) -> frozenset[Side]:
    """Return both sides of each branch."""
    return frozenset(
        Side(jump.branch, name) for each in jumps.values() for jump in each.values()
        for name in jump.names
    )  # fmt: skip


@contextmanager
def taken(jumps: Jumps, seen: set[Side]) -> Iterator[None]:
    """Add to `seen` the sides that this thread takes in the block.

    A tracer that a debugger or a coverage tool has set is off meanwhile.
    """
    open_codes = {code: each for code, each in jumps.items() if not sides_of({code: each}) <= seen}
    if not open_codes:
        yield
        return
    steps = 0

    def on_call(frame: FrameType, _event: str, _: Any) -> Any:
        each = open_codes.get(frame.f_code)
        if each is None or steps > _MOST_STEPS:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return follow(each)

    def follow(each: Mapping[int, _Jump]) -> Callable[..., Any]:
        before: _Jump | None = None

        def on_step(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal before, steps
            if event == "opcode":
                steps += 1
                if before is not None:
                    name = before.names[frame.f_lasti != before.fallthrough]
                    seen.add(Side(before.branch, name))
                before = each.get(frame.f_lasti)
                if steps > _MOST_STEPS:
                    frame.f_trace_opcodes = False
            return on_step

        return on_step

    with tracing(on_call):
        yield


def _jumps(code: CodeType, method: str) -> dict[int, _Jump]:
    instructions = list(dis.get_instructions(code))
    spans = _tests(code.co_filename)
    found = {}
    for before, each, after in zip(instructions, instructions[1:], instructions[2:], strict=False):
        is_loop = each.opname == "FOR_ITER"
        if not is_loop and "IF_" not in each.opname:
            continue
        # Before the jump comes the value it tests; a comparison with None is part of the jump.
        span = _span(each if is_loop or "NONE" in each.opname else before)
        if span is not None and (is_loop or any(_contains(test, span) for test in spans)):
            branch = Branch(method, code.co_filename, span)
            names = _names(each.opname, source_of(branch))
            found[each.offset] = _Jump(branch, after.offset, names)
    return found


def _span(instruction: dis.Instruction) -> Span | None:
    place = instruction.positions
    if place is None or place.lineno is None or place.end_lineno is None:
        return None
    if place.col_offset is None or place.end_col_offset is None:
        return None
    return place.lineno, place.end_lineno, place.col_offset, place.end_col_offset


def _contains(outer: Span, inner: Span) -> bool:
    return (outer[0], outer[2]) <= (inner[0], inner[2]) and (inner[1], inner[3]) <= (
        outer[1],
        outer[3],
    )


SIDES_OF_A_LOOP = "runs", "runs to its end"
"""Names of the sides of a loop: its body runs once or more, and it is not left early."""


def _names(opname: str, text: str) -> tuple[str, str]:
    """Names of the sides of a jump: the one that falls through, then the one that jumps."""
    if opname == "FOR_ITER":
        return SIDES_OF_A_LOOP
    if "NONE" in opname:
        jumps_if = ("NOT_NONE" in opname) == (" is not " in text)
    else:
        jumps_if = "TRUE" in opname
    return ("is false", "is true") if jumps_if else ("is true", "is false")


def source_of(branch: Branch) -> str:
    """Return the expression of a branch in one line."""
    first, last, start, end = branch.span
    lines = [line.encode() for line in _source(branch.path).splitlines()[first - 1 : last]]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return " ".join(b" ".join(lines).decode(errors="replace").split())


@lru_cache(maxsize=64)
def _source(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


@lru_cache(maxsize=64)
def _tests(path: str) -> tuple[Span, ...]:
    """Return the places of the tests in a module that decide between two ways on."""
    try:
        tree = parsed(_source(path))
    except (SyntaxError, ValueError):
        return ()
    guards = {
        id(inner) for node in ast.walk(tree) for guard in _guards(node) for inner in ast.walk(guard)
    }
    return tuple(
        (test.lineno, test.end_lineno or 0, test.col_offset, test.end_col_offset or 0)
        for node in ast.walk(tree)
        for test in _decisions(node)
        if id(test) not in guards
    )


def _guards(node: ast.AST) -> list[ast.AST]:
    """The tests that only refuse arguments."""
    match node:
        case ast.Assert():
            return [node]
        case ast.If(test=test, body=body, orelse=[]) if isinstance(body[-1], ast.Raise):
            return [test]
    return []


def _decisions(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return [test]
        case ast.comprehension(ifs=tests):
            return tests
        case ast.BoolOp():
            return [node]
    return []

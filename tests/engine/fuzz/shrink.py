"""Makes a differing program small, as long as it differs in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tests.engine.fuzz.program import Program

Differs = Callable[[Program], bool]


def shrink(program: Program, differs: Differs) -> Program:
    """The smallest program found by leaving out statements, then by simpler ones."""
    smaller = _fewer(program, differs)
    while True:
        simpler = _simpler(smaller, differs)
        fewer = _fewer(simpler, differs)
        if fewer == smaller:
            return fewer
        smaller = fewer


def _fewer(program: Program, differs: Differs) -> Program:
    """The program without the statements that do not matter, longest runs first."""
    length = max(1, len(program.statements) // 2)
    while True:
        at = 0
        while at < len(program.statements):
            tried = program.without(range(at, at + length))
            if tried.statements and differs(tried):
                program = tried
            else:
                at += length
        if length == 1:
            return program
        length //= 2


def _simpler(program: Program, differs: Differs) -> Program:
    for at in range(len(program.statements)):
        for text in _variants(program.statements[at]):
            changed = (*program.statements[:at], text, *program.statements[at + 1 :])
            tried = Program(program.seed, changed, program.watched)
            if differs(tried):
                program = tried
                break
    return program


def _variants(statement: str) -> Iterator[str]:
    """Simpler statements: shorter literals, fewer keywords, operands in place of operations."""
    yield from _shorter_literals(statement)
    for keyword in re.finditer(r",? ?\b\w+=(?!=)[\w.]+(?:\([^()]*\))?(?=[,)])", statement):
        yield statement[: keyword.start()] + statement[keyword.end() :]
    for other in ("float64", "float32"):
        for dtype in ("float16", "complex64", "complex128", "int64"):
            if dtype in statement:
                yield statement.replace(dtype, other)
    assigned = re.match(r"(t\d+) = ", statement)
    if assigned:
        for name in dict.fromkeys(re.findall(r"\bt\d+\b", statement[assigned.end() :])):
            yield f"{assigned[1]} = {name} * 1"


def _shorter_literals(statement: str) -> Iterator[str]:
    for literal in re.finditer(r"torch\.tensor\((\[.*\])(?=, dtype)", statement):
        for text in ("2.0", "[1.0]", "[1.0, 2.0]", "[1.0, 2.0, 3.0]", "[[1.0, 2.0], [3.0, 4.0]]"):
            if len(text) < len(literal[1]):
                yield statement[: literal.start(1)] + text + statement[literal.end(1) :]

"""Comments in checked code that tell gradtool what to ignore, and why.

``# gradtool: ignore[GT505] the table is constant`` holds for the statement it stands on, and for
what is said of the method around it as a whole; on the line of a ``def`` or a ``class``, for all
of that. A reason is required.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gradtool.collect.loader import LoadError, parse_source
from gradtool.errors import UsageError
from gradtool.verify.rules import codes

_OURS = re.compile(r"#\s*gradtool:\s*(?P<text>.*)", re.IGNORECASE)
_IGNORE = re.compile(r"ignore\s*\[(?P<codes>[^\]]*)\]\s*(?P<reason>.*)")
_FORM = "'# gradtool: ignore[GT505] reason'"


class Comment(msgspec.Struct, frozen=True):
    """One such comment, and the lines that it holds for."""

    rules: frozenset[str]
    reason: str
    line: int
    first: int
    last: int
    around: frozenset[int] = frozenset()
    """Lines of each ``def`` around it: where what is wrong with a whole method is reported."""

    def covers(self, line: int | None) -> bool:
        """Return True if it covers `line`."""
        return line is not None and (self.first <= line <= self.last or line in self.around)


def comments_in(source: bytes, shown: str) -> tuple[Comment, ...]:
    """The comments in the source of a file that messages call `shown`; none if it is no Python.

    Raises:
        UsageError: One has no rule, a rule that does not exist, or no reason.
    """
    # Most files have no such comment, and need not be parsed for one.
    if b"gradtool:" not in source.lower():
        return ()
    try:
        tree = parse_source(source, Path(shown))
        found = list(_said(source))
    except (LoadError, LookupError, tokenize.TokenError, SyntaxError, ValueError):
        return ()  # The import reports this.
    spans = list(_spans(tree))
    return tuple(_comment(text, line, spans, f"{shown}:{line}") for line, text in found)


def _said(source: bytes) -> Iterator[tuple[int, str]]:
    """Line and words of each comment for gradtool."""
    # Not line by line: strings and docstrings may quote such a comment.
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT:
            match = _OURS.search(token.string)
            if match:
                yield token.start[0], match["text"]


class _Span(msgspec.Struct, frozen=True):
    """The lines on which a comment may stand, and those that it then holds for."""

    first: int
    head: int
    last: int
    is_method: bool = False


def _spans(tree: ast.Module) -> Iterator[_Span]:
    """Definitions and simple statements."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            head = max(node.lineno, node.body[0].lineno - 1)
            is_method = not isinstance(node, ast.ClassDef)
            yield _Span(first, head, node.end_lineno or head, is_method)
        elif isinstance(node, ast.stmt) and not hasattr(node, "body"):
            last = node.end_lineno or node.lineno
            yield _Span(node.lineno, last, last)


def _comment(text: str, line: int, spans: list[_Span], place: str) -> Comment:
    match = _IGNORE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{place}: write a comment for gradtool as {_FORM}")
    patterns = [code.strip() for code in match["codes"].split(",") if code.strip()]
    if not patterns:
        raise UsageError(f"{place}: name the rule to ignore, as in {_FORM}")
    for code in patterns:
        problem = codes.problem_with(code)
        if problem:
            raise UsageError(f"{place}: {problem} in a comment")
    # Another tool's comment, such as noqa, may follow on the same line.
    reason = match["reason"].partition(" #")[0].strip(" :-")
    if not reason:
        raise UsageError(f"{place}: say why the rule does not apply: {_FORM}")
    there = [span for span in spans if span.first <= line <= span.head]
    # The innermost of nested definitions and statements.
    span = min(there, key=lambda span: span.last - span.first, default=_Span(line, line, line))
    methods = [each for each in spans if each.is_method and each.first <= line <= each.last]
    around = frozenset(line for each in methods for line in range(each.first, each.head + 1))
    return Comment(codes.matching(patterns), reason, line, span.first, span.last, around)

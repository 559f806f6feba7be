"""Filters on node ids: the expression of ``-k`` and the part of ``--shard``.

The expression of ``-k`` is pytest's:

``expression := term ("or" term)*``, ``term := factor ("and" factor)*``,
``factor := "not" factor | "(" expression ")" | word``. A word matches a node id that
contains it, whatever the case of its letters.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from gradtool.errors import UsageError

Predicate = Callable[[str], bool]
"""Says whether a node id is wanted."""

_TOKEN = re.compile(r"\s*(?:([()])|([^\s()]+))")
_OPERATORS = frozenset({"and", "or", "not"})
_DEEPEST = 100
"""Levels of nesting beyond which an expression is refused rather than recursed into."""


def parse_keyword(expression: str) -> Predicate:
    """The predicate that `expression` describes.

    Raises:
        UsageError: The expression is not well formed.
    """
    return _Parser(expression).parse()


class _Parser:
    """Recursive descent over the words of one expression."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = [one or two for one, two in _TOKEN.findall(expression)]
        self._next = 0
        self._depth = 0

    def parse(self) -> Predicate:
        predicate = self._either()
        if self._peek() is not None:
            raise self._error(f"unexpected {self._peek()!r}")
        return predicate

    def _either(self) -> Predicate:
        predicates = [self._both()]
        while self._accept("or"):
            predicates.append(self._both())
        return lambda node_id: any(wanted(node_id) for wanted in predicates)

    def _both(self) -> Predicate:
        predicates = [self._factor()]
        while self._accept("and"):
            predicates.append(self._factor())
        return lambda node_id: all(wanted(node_id) for wanted in predicates)

    def _factor(self) -> Predicate:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error("nested too deeply")
        try:
            return self._negation_group_or_word()
        finally:
            self._depth -= 1

    def _negation_group_or_word(self) -> Predicate:
        if self._accept("not"):
            inner = self._factor()
            return lambda node_id: not inner(node_id)
        if self._accept("("):
            grouped = self._either()
            if not self._accept(")"):
                raise self._error("missing ')'")
            return grouped
        return self._word()

    def _word(self) -> Predicate:
        token = self._peek()
        if token is None:
            raise self._error("a word is missing at the end")
        if token == ")" or token in _OPERATORS:
            raise self._error(f"a word is missing before {token!r}")
        self._next += 1
        word = token.casefold()
        return lambda node_id: word in node_id.casefold()

    def _peek(self) -> str | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _accept(self, token: str) -> bool:
        accepted = self._peek() == token
        self._next += accepted
        return accepted

    def _error(self, why: str) -> UsageError:
        return UsageError(f"-k {self._expression!r} is not an expression: {why}")


_SHARD = re.compile(r"([1-9]\d*)/([1-9]\d*)")


def parse_shard(text: str) -> tuple[int, int]:
    """Number and count of ``2/5``.

    Raises:
        UsageError: It is not of this form, or there is no such shard.
    """
    match = _SHARD.fullmatch(text)
    if match is None:
        raise UsageError(f"--shard must read NUMBER/COUNT, such as 2/5, got {text!r}")
    number, count = int(match[1]), int(match[2])
    if number > count:
        raise UsageError(f"--shard {text}: there are only {count} shards, numbered from 1")
    return number, count


def shard_of(node: str, count: int) -> int:
    """The number, from 1, of the shard that the node belongs to."""
    digest = hashlib.blake2b(node.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % count + 1

"""Filters on node ids: the expression of ``-k`` and the part of ``--shard``.

The expression of ``-k`` is pytest's:

``expression := term ("or" term)*``, ``term := factor ("and" factor)*``,
``factor := "not" factor | "(" expression ")" | word``. A word matches a node id that
contains it, in upper or lower case.

A Function belongs to a shard by the hash of its node id alone, so every machine comes to the
same answer, regardless of its platform and of other Functions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from gradtool.errors import UsageError
from gradtool.spelling import plural

Predicate = Callable[[str], bool]
"""Returns True for a node id to check."""

_TOKEN = re.compile(r"\s*(?:([()])|([^\s()]+))")
_OPERATORS = frozenset({"and", "or", "not"})
_MAX_DEPTH = 100
"""Levels of nesting beyond which an expression is refused, well below Python's limit."""


def parse_keyword(expression: str) -> Predicate:
    """Compile `expression`.

    Raises:
        UsageError: The expression is not well formed.
    """
    return _Parser(expression).parse()


class _Parser:
    """Recursive-descent parser of one expression."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = [one or two for one, two in _TOKEN.findall(expression)]
        self._next = 0
        self._depth = 0

    def parse(self) -> Predicate:
        predicate = self._any_of()
        if self._peek() is not None:
            raise self._error(f"unexpected {self._peek()!r}")
        return predicate

    def _any_of(self) -> Predicate:
        predicates = [self._all_of()]
        while self._accept("or"):
            predicates.append(self._all_of())
        return lambda node_id: any(matches(node_id) for matches in predicates)

    def _all_of(self) -> Predicate:
        predicates = [self._factor()]
        while self._accept("and"):
            predicates.append(self._factor())
        return lambda node_id: all(matches(node_id) for matches in predicates)

    def _factor(self) -> Predicate:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._error("nested too deeply")
        try:
            return self._unguarded_factor()
        finally:
            self._depth -= 1

    def _unguarded_factor(self) -> Predicate:
        if self._accept("not"):
            inner = self._factor()
            return lambda node_id: not inner(node_id)
        if self._accept("("):
            grouped = self._any_of()
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
        # As pytest's -k, which ignores case.
        word = token.casefold()
        return lambda node_id: word in node_id.casefold()

    def _peek(self) -> str | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _accept(self, token: str) -> bool:
        accepted = self._peek() == token
        self._next += accepted
        return accepted

    def _error(self, why: str) -> UsageError:
        return UsageError(f"-k {self._expression!r} is not a valid expression: {why}")


_SHARD = re.compile(r"([1-9]\d*)/([1-9]\d*)")


def parse_shard(text: str) -> tuple[int, int]:
    """Parse ``2/5`` into number and count.

    Raises:
        UsageError: It is not of this form, or there is no such shard.
    """
    match = _SHARD.fullmatch(text)
    if match is None:
        raise UsageError(f"--shard must be NUMBER/COUNT, such as 2/5, got {text!r}")
    number, count = int(match[1]), int(match[2])
    if number > count:
        there_are = "is" if count == 1 else "are"
        raise UsageError(
            f"--shard {text}: there {there_are} only {plural(count, 'shard')}, numbered from 1"
        )
    return number, count


def shard_of(node: str, count: int) -> int:
    """Number, from 1, of the shard that a node id belongs to."""
    # Not hash(), which differs between the processes that run the shards.
    digest = hashlib.blake2b(node.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % count + 1

"""Values that docstrings allow, such as ``p = 1 or 2``, ``0 < a <= 1`` and ``x in (low, high)``.

Values in a statement are written out or are the names of other arguments. A statement about inputs
in general, as "inputs must be between -1 and 1", is about all tensors that require a gradient.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
import numpy as np

from gradtool.explore.reading.names import is_level, is_position

_TOKEN = re.compile(
    r"[-+\u2212]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?|-(?:pi|inf)\b|[A-Za-z_]\w*(?:-[A-Za-z]\w*)*"
    r"|>=|<=|==|!=|[<>=\u2265\u2264\u2260\u2208()\[\]{}|/:,;.+*\u00d7-]|'[^' ]*'|\"[^\" ]*\""
)

_FILLERS = frozenset(
    re.findall(
        r"\S+",
        "is are be it must may can should shall has have to lie lies lying stay stays value values "
        "entry entries element elements coordinates strictly always only all well both either one "
        "of integer integers int ints float floats number numbers scalar scalars tensor assumed "
        "expected required supposed the a an that which restricted limited support supports "
        "supported take takes equal equals with : ( ) , from",
    )
)
"""What may be between an argument and a statement about it."""

_DEMANDS = frozenset(
    {
        "must",
        "only",
        "should",
        "always",
        "has",
        "assumed",
        "required",
        "lie",
        "lies",
        "stay",
        "stays",
    }
)

_GENERIC = re.compile(
    r"(inputs?|arguments?|values|entries|points|coordinates|numbers|samples|data)", re.I
)
"""What stands for all arguments before a demand."""

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "\u2265": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "\u2264": operator.le,
    "!=": operator.ne,
    "\u2260": operator.ne,
}
_MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "\u2265": "\u2264", "\u2264": "\u2265"}

_PHRASES = {
    ("at", "least"): ">=",
    ("at", "most"): "<=",
    ("no", "less", "than"): ">=",
    ("no", "more", "than"): "<=",
    ("greater", "than"): ">",
    ("larger", "than"): ">",
    ("more", "than"): ">",
    ("less", "than"): "<",
    ("smaller", "than"): "<",
    ("above",): ">",
    ("below",): "<",
    ("unequal", "to"): "!=",
    ("not",): "!=",
}

_WORDS: dict[str, Callable[[Any], Any]] = {
    "positive": lambda value: value > 0,
    "non-negative": lambda value: value >= 0,
    "nonnegative": lambda value: value >= 0,
    "negative": lambda value: value < 0,
    "non-zero": lambda value: value != 0,
    "nonzero": lambda value: value != 0,
    "odd": lambda value: value % 2 == 1,
    "even": lambda value: value % 2 == 0,
}

_MODALS = (["must"], ["should"], ["lie"], ["have"], ["are"])
"""Words after which a general word is about all arguments."""

_LONGEST_RANGE = 30
"""Tokens of one or more ranges."""

_LONGEST_SYMBOL = 2
"""Letters of names of which upper and lower case are different symbols."""

_MARGIN = 0.04
"""Part of a range by which values that lie "well inside" it keep away from its ends."""

_MOST_NOUNS = 3
"""Words from an adjective to the name that it is about, as in "an odd kernel size k"."""

SELECTING = frozenset(
    re.findall(
        r"\S+",
        "over where wherever when whenever if unless while whose skip skips skipping ignoring "
        "masking dropping excluding except without",
    )
)
"""Words before a condition that holds of some entries or calls only."""

_QUANTILES = re.compile(r"quantile|expectile|pinball", re.I)

_CALLED_LEVEL = re.compile(r"\blevels? `*(\w+)", re.I)

_NO_PROPERTY = ("definite", "semi", "or", "and", "if", "for", "though", "when", "where", "at")
"""Words after which "positive" is a property of a matrix, and "even" none at all."""

Known = Mapping[str, Any]
Condition = Callable[[Any, Known], bool]
Bound = tuple[str, float]
"""A number or name, and what is added to it."""


class Statement(msgspec.Struct, frozen=True):
    """A condition on one argument, or on all tensors with a gradient if `name` is None."""

    name: str | None
    holds: Condition


def statements(text: str, names: AbstractSet[str]) -> list[Statement]:
    """Find all that a text states of the values of arguments with these names."""
    tokens = _TOKEN.findall(text.replace("`", " "))
    return [
        Statement(name, condition)
        for at, name in _subjects(tokens, names)
        for condition in (*_after(tokens[at + 1 :], names), *_before(tokens[:at]))
    ]


def levels(text: str, names: AbstractSet[str]) -> list[Statement]:
    """Find the levels of quantiles: shares, which a loss of quantiles has no meaning without."""
    called = set(_CALLED_LEVEL.findall(text)) & names
    if _QUANTILES.search(text):
        called |= set(filter(is_level, names))
    return [Statement(name, _is_share) for name in sorted(called)]


def _is_share(value: Any, _: Known) -> bool:
    return bool(np.all((np.asarray(value) > 0) & (np.asarray(value) < 1)))


def bounded(text: str, names: AbstractSet[str]) -> set[str | None]:
    """The arguments that a text says to lie inside something of which it gives no numbers."""
    tokens = _TOKEN.findall(text.replace("`", " "))
    found: set[str | None] = set()
    for at, name in _subjects(tokens, names):
        fillers, rest = _split(tokens[at + 1 :], names)
        is_inside = bool(rest) and rest[0].lower() in ("inside", "within")
        if is_inside and not _DEMANDS.isdisjoint(fillers):
            found |= {name} if _range(rest, margin=0.0, strict=False) is None else set()
    return found


def _subjects(tokens: Sequence[str], names: AbstractSet[str]) -> Iterator[tuple[int, str | None]]:
    """The places of names among tokens; None for a word that stands for all of them."""
    by_word = {name.lower(): name for name in names if len(name) > _LONGEST_SYMBOL}
    # Of lengths, each "length" may be meant, and "lengths" of several tensors with a length.
    singular = {word.removesuffix("s"): name for word, name in by_word.items()}
    by_word = {f"{word}s": name for word, name in by_word.items()} | singular | by_word
    by_initial = _by_initial(names)
    for at, token in enumerate(tokens):
        if at and tokens[at - 1].lower() in SELECTING:
            continue
        name = token if token in names else by_word.get(token.lower(), by_initial.get(token))
        if name is not None:
            yield at, name
        elif _GENERIC.fullmatch(token) and tokens[at + 1 : at + 2] in _MODALS:
            yield at, None


def _by_initial(names: AbstractSet[str]) -> dict[str, str]:
    """The names whose first letter no other has: in a formula, it may stand for them."""
    initials = [name[:1] for name in names]
    return {name[0]: name for name in names if initials.count(name[0]) == 1 and name[0] != "a"}


# ---- forms of a statement ---------------------------------------------------------------------


def _after(tokens: Sequence[str], names: AbstractSet[str]) -> Iterator[Condition]:
    """The conditions that begin after the name of an argument."""
    fillers, rest = _split(tokens, names)
    if not rest:
        return
    inner = _range(rest, margin=_MARGIN if "well" in fillers else 0.0, strict="strictly" in fillers)
    if inner is not None:
        yield inner
        return
    sign, length = _sign(rest)
    if sign == "!=" and is_position("".join(rest[length : length + 1])):
        return  # That is what is left out, not what is not allowed.
    if sign is not None:
        if not _is_conditional(rest[length + 1 :], names):
            yield from _bounds(sign, rest[length:])
        return
    if rest[0].lower() in _WORDS and not _is_no_condition(rest[1:3]):
        if names.isdisjoint(rest[1:2]):  # Before another name the word is about that one.
            yield _worded(rest[0])
        return
    if not {"equal", "equals", "="}.isdisjoint((*fillers, rest[0])) and names & {*rest[:3]}:
        (other, *_) = (each for each in rest if each in names)
        yield _compared("==", other)
        return
    values = _listed(rest)
    if len(values) > 1 or (values and not _DEMANDS.isdisjoint(fillers) and rest[0] != "="):
        yield _one_of(values)


def _is_conditional(tokens: Sequence[str], names: AbstractSet[str]) -> bool:
    """Return True if a statement holds only where another argument is something."""
    is_selecting = not SELECTING.isdisjoint(each.lower() for each in tokens[:1])
    return is_selecting and not names.isdisjoint(tokens[1:_LONGEST_RANGE])


def _split(tokens: Sequence[str], names: AbstractSet[str]) -> tuple[list[str], Sequence[str]]:
    """The words after a name that say nothing, in lower case, and what follows them."""
    tokens = tokens[_length_of_shape(tokens) :]
    skipped = 0
    while skipped < len(tokens) and tokens[skipped].lower() in _FILLERS - names:
        skipped += 1
    return [each.lower() for each in tokens[:skipped]], tokens[skipped:]


def _length_of_shape(tokens: Sequence[str]) -> int:
    """The number of tokens of a type or shape in parentheses, as in ``x (2, 3)``."""
    if tokens[:1] != ["("] or ")" not in tokens:
        return 0
    end = tokens.index(")")
    return 0 if {"or", "in"} & {*tokens[:end]} else end + 1


def _before(tokens: Sequence[str]) -> Iterator[Condition]:
    """The conditions that end before the name of an argument: ``0 < `` and ``positive ``."""
    if len(tokens) > 1 and tokens[-1] in _MIRRORED and _is_value(tokens[-2]):
        yield _compared(_MIRRORED[tokens[-1]], tokens[-2])
    for at in range(len(tokens) - 1, max(len(tokens) - _MOST_NOUNS, 0) - 1, -1):
        word = tokens[at].lower()
        if word in _WORDS and not _is_no_condition(tokens[at + 1 : at + 3]):
            yield _worded(word)
        if word in _WORDS or not word.isidentifier():
            return


def _is_no_condition(following: Sequence[str]) -> bool:
    """Return True if an adjective is none of a number, by the two words that follow."""
    is_optional = [each.lower() for each in following] == ["or", "none"]
    return not is_optional and any(each.lower().startswith(_NO_PROPERTY) for each in following[:1])


def _range(tokens: Sequence[str], *, margin: float, strict: bool) -> Condition | None:
    """A range, as ``in (0, 1]`` or ``between a and b``; None for anything else.

    Of several ranges, as ``[0, W - 1] x [0, H - 1]``, each is about one entry of the last axis.
    """
    words = [each.lower() for each in tokens[:_LONGEST_RANGE]]
    if words[0] not in ("in", "inside", "within", "between", "\u2208", "range", "interval"):
        return None
    at = 1
    while words[at : at + 1] in (["the"], ["range"], ["interval"], ["open"], ["closed"], ["from"]):
        at += 1
    found: list[Condition] = []
    while True:
        one, length = _interval(tokens[at:_LONGEST_RANGE], margin=margin, strict=strict)
        if one is None:
            break
        found.append(one)
        at += length
        if words[at : at + 1] not in (["x"], ["\u00d7"], ["*"]):
            break
        at += 1
    return _of_columns(found) if len(found) > 1 else found[0] if found else None


def _interval(
    tokens: Sequence[str], *, margin: float, strict: bool
) -> tuple[Condition | None, int]:
    """The interval that tokens begin with, and its number of tokens."""
    opened = tokens[0] if tokens and tokens[0] in ("(", "[", "]") else ""
    at = bool(opened) + 0
    low, length = _bound(tokens[at:])
    at += length
    separators = (",", "and", "to") if opened else ("and", "to")
    if low is None or at >= len(tokens) or tokens[at].lower() not in separators:
        return None, 0
    high, length = _bound(tokens[at + 1 :])
    at += 1 + length
    closed = tokens[at] if at < len(tokens) else ""
    if high is None or (opened and closed not in (")", "]", "[")):
        return None, 0
    above = ">" if strict or opened in ("(", "]") else ">="
    below = "<" if strict or (opened and closed in (")", "[")) else "<="
    return _between(low, above, high, below, margin), at + bool(opened)


def _bound(tokens: Sequence[str]) -> tuple[Bound | None, int]:
    """A value with an offset, as ``W - 1``, and its number of tokens."""
    if not tokens or not _is_value(tokens[0]):
        return None, 0
    rest = tokens[1:3]
    if rest and rest[0][0] in "+-" and _is_number(rest[0]):
        return (tokens[0], float(rest[0])), 2
    if len(rest) > 1 and rest[0] in ("+", "-") and _is_number(rest[1]):
        return (tokens[0], float(rest[0] + rest[1])), 3
    return (tokens[0], 0.0), 1


def _sign(tokens: Sequence[str]) -> tuple[str | None, int]:
    """The sign that tokens begin with, in symbols or in words, and their number."""
    if tokens[0] in _SIGNS:
        return tokens[0], 1
    words = tuple(each.lower() for each in tokens[:3])
    for phrase, sign in _PHRASES.items():
        if words[: len(phrase)] == phrase:
            return sign, len(phrase)
    return None, 0


def _bounds(sign: str, tokens: Sequence[str]) -> Iterator[Condition]:
    """The bound after a sign, and a second one after "and"."""
    tokens = tokens[1:] if tokens[:1] == ["the"] else tokens
    if tokens and _is_value(tokens[0]):
        yield _compared(sign, tokens[0])
        if tokens[1:2] == ["and"] and len(tokens) > 2:
            other, length = _sign(tokens[2:])
            if other is not None:
                yield from _bounds(other, tokens[2 + length :])


def _listed(tokens: Sequence[str]) -> list[Any]:
    """The values of a list that tokens begin with, as ``= 1 or 2`` and ``in {1, 2}``."""
    rest = [each for each in tokens[:24] if each not in ("{", "[", "(")]
    while rest and rest[0].lower() in ("=", "==", "in", "\u2208", "either", "of"):
        rest = rest[1:]
    values: list[Any] = []
    while rest and (_is_number(rest[0]) or rest[0][0] in "'\""):
        values.append(_resolved(rest[0], {}))
        separators = [each.lower() in (",", "or", "and", "/", "|") for each in rest[1:3]]
        taken = 1 + [*separators, False].index(False)
        if taken == 1:
            break
        rest = rest[taken:]
        if rest and rest[0].lower() in _WORDS:  # The list names no more than some of them.
            return []
    if values and isinstance(values[0], str):
        # Words may be explained one by one: "mean" over all entries, or "sum".
        end = rest.index(".") if "." in rest else len(rest)
        values += [_resolved(each, {}) for each in rest[:end] if each[0] in "'\""]
    return values


# ---- conditions -------------------------------------------------------------------------------


def _compared(sign: str, value: str) -> Condition:
    def holds(given: Any, known: Known) -> bool:
        bound = _resolved(value, known)
        return bound is None or bool(np.all(_SIGNS[sign](given, bound)))

    return holds


def _between(low: Bound, above: str, high: Bound, below: str, margin: float) -> Condition:
    def holds(given: Any, known: Known) -> bool:
        least, most = (_resolved(value, known) for value, _ in (low, high))
        room = 0.0
        if least is not None and most is not None and math.isfinite(most - least):
            room = margin * (most + high[1] - least - low[1])
        is_above = least is None or np.all(_SIGNS[above](given, least + low[1] + room))
        is_below = most is None or np.all(_SIGNS[below](given, most + high[1] - room))
        return bool(is_above and is_below)

    return holds


def _of_columns(conditions: Sequence[Condition]) -> Condition:
    """The condition that each entry of the last axis meets its own."""

    def holds(given: Any, known: Known) -> bool:
        if not isinstance(given, np.ndarray) or given.shape[-1:] != (len(conditions),):
            return True
        return all(holds(given[..., at], known) for at, holds in enumerate(conditions))

    return holds


def _worded(word: str) -> Condition:
    return lambda given, _: bool(np.all(_WORDS[word.lower()](given)))


def _one_of(values: Sequence[Any]) -> Condition:
    def holds(given: Any, _: Known) -> bool:
        if isinstance(given, str):
            return given in values or not any(isinstance(each, str) for each in values)
        numbers = [each for each in values if not isinstance(each, str)]
        return not numbers or bool(np.isin(given, numbers).all())

    return holds


# ---- values -----------------------------------------------------------------------------------


def _is_number(token: str) -> bool:
    return token[-1].isdigit() and not token[0].isalpha() and token[0] != "_"


def _is_value(token: str) -> bool:
    return _is_number(token) or token.lstrip("-").isidentifier()


_CONSTANTS = {"pi": math.pi, "-pi": -math.pi, "inf": math.inf, "-inf": -math.inf}


def _resolved(token: str, known: Known) -> Any:
    """The value of a token; None for a name that is not that of a number."""
    if token[0] in "'\"":
        return token[1:-1]
    if _is_number(token):
        number = float(token.replace("\u2212", "-"))
        return int(number) if number.is_integer() else number
    named = _CONSTANTS.get(token, known.get(token))
    return named if isinstance(named, int | float) and not isinstance(named, bool) else None

"""Values that the message of a refusal asks for: an option, a type, a dtype, an extent, a square.

``Unknown method: 0.75. Available: lu, qr`` says which argument is refused, by its value, and what
would be accepted. No line has to be read for that, so the message may come from any file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gradtool.cases.inference.drafts import Draft, is_floating, is_same, shape_of
from gradtool.cases.inference.guards.ranges import Range
from gradtool.cases.inference.stand_ins import is_stand_in, matrices, smooth
from gradtool.config.tensor_spec import is_tensor

_CUE = re.compile(
    r"\b(?:available|allowed|accepted|permitted|supported(?! between instances)|valid|possible"
    r"|known|recogni[sz]ed|either|options|choices|one of|choose from|only|in)\b"
    r"(?:[ \w]{0,30}:|(?: (?:are|is|be|one|of))*)",
    re.IGNORECASE,
)
"""Matches what comes before a list of options."""

_END = re.compile(r"\b(?:but|got|not|instead|found|received|was|for)\b|;|\.(?:\s|$)")
"""Matches what comes behind one."""

_QUOTED = re.compile(r"'([^']{1,40})'|\"([^\"]{1,40})\"")
_SEPARATOR = re.compile(r"\s*(?:,|/|\||\bor\b|\band\b)\s*")
_OPTION = re.compile(r"[A-Za-z][\w.+-]*|-?\d+")

_MOST_OPTIONS = 4
"""Options of a list that are tried."""

_TYPED = re.compile(
    r"\b(?P<name>\w+)\W+(?:argument )?(?:must|should|has to|needs to|is expected to) be "
    r"(?:of type |an instance of |a |an |the |type )*"
    r"(?P<type>bool|int|float|number|str|list|tuple|dict|callable)",
    re.IGNORECASE,
)
"""Matches ``horner must be of type bool``."""

_OF_TYPE: dict[str, tuple[Any, ...]] = {
    "bool": (False, True),
    "int": (2, 1, 3, 0),
    "float": (0.75, 1.0),
    "number": (0.75, 2),
    "str": ("mean", "none"),
    "list": ([2, 2],),
    "tuple": ({"literal": (2, 2)},),
    "dict": ({"literal": {}},),
}

_COMPLEX = re.compile(r"\b(?:dtype|type|tensor)\b.*\bcomplex(?:64|128)?\b", re.IGNORECASE)
_GOT_COMPLEX = re.compile(r"\bgot\b.*complex", re.IGNORECASE)
_SQUARE = re.compile(r"\bsquare\b", re.IGNORECASE)
_PAIR = re.compile(r"[(\[](\d{1,2}), ?(\d{1,2})[)\]]")


class Said(msgspec.Struct, frozen=True):
    """Statement of a refusal."""

    message: str
    line: str = ""
    """The line of the user's file that was refused."""


def corrections(names: Sequence[str], draft: Draft, said: Said) -> Iterator[tuple[int, Any]]:
    """Yield positions with the values that a refusal asks for there, the likeliest first."""
    found = [*_options(names, draft, said), *_types(names, said.message)]
    found += [*_squares(draft, said.message), *_complex(names, draft, said.message)]
    found += [*_extents(names, draft, said.message), *_functions(draft, said.message)]
    found += _bounded(names, draft, said.message)
    yield from ((at, value) for at, value in found if not is_same(value, draft[at]))


def _options(names: Sequence[str], draft: Draft, said: Said) -> Iterator[tuple[int, Any]]:
    """Yield the options that a message lists, in place of the value that it refuses."""
    message = said.message
    for cue in _CUE.finditer(message):
        text = _END.split(message[cue.end() :], maxsplit=1)[0]
        options = list(listed(text))
        before = message[: cue.end()] + message[cue.end() + len(text) :]
        if options:
            for at in _refused(names, draft, Said(before, said.line)):
                yield from ((at, option) for option in options[:_MOST_OPTIONS])


def listed(text: str) -> Iterator[str | int]:
    """Yield the options that a text lists, in quotes or as words with commas between them."""
    quoted = [one or other for one, other in _QUOTED.findall(text)]
    if quoted:
        yield from quoted
        return
    parts = [part.strip(" .[](){}:<>!") for part in _SEPARATOR.split(text)]
    words = [part.partition(" ")[0] for part in parts if part]
    if len(words) > 1 and all(map(_OPTION.fullmatch, words)):
        yield from (int(word) if word.lstrip("-").isdigit() else word for word in words)


def _refused(names: Sequence[str], draft: Draft, said: Said) -> list[int]:
    """The positions of plain values that a message speaks of: by value and name, or by either.

    Where it speaks of none, those of words, which are options too, and else those in the line.
    """
    plain = [at for at, value in enumerate(draft) if not is_tensor(value)]
    by_value = {at for at in plain if _mentions(said.message, str(draft[at]))}
    by_name = {at for at in plain if _mentions(said.message, names[at])}
    words = {at for at in plain if isinstance(draft[at], str)}
    in_line = {at for at, name in enumerate(names) if _mentions(said.line, name)}
    others = {at for at in in_line if not is_floating(draft[at])}
    return sorted(by_value & by_name or by_name or by_value or words or others)


def _mentions(message: str, word: str) -> bool:
    return bool(re.search(rf"(?<![\w.]){re.escape(word)}(?!\w|\.\d)", message, re.IGNORECASE))


def _types(names: Sequence[str], message: str) -> Iterator[tuple[int, Any]]:
    for found in _TYPED.finditer(message):
        if found["name"] in names:
            values = _OF_TYPE.get(found["type"].lower(), ())
            yield from ((names.index(found["name"]), value) for value in values)


_FUNCTION = re.compile(
    r"\b(?:must|should|has to|needs to|is expected to) be (?:a |an )?(?:plain |python )?function\b",
    re.IGNORECASE,
)
"""Matches ``must be a function``, which an object that can be called is not."""


def _functions(draft: Draft, message: str) -> Iterator[tuple[int, Any]]:
    """Yield a function in place of each object that stands for one."""
    if _FUNCTION.search(message):
        for at, value in enumerate(draft):
            held = value.get("literal") if isinstance(value, dict) else None
            if is_stand_in(held) and callable(held):
                yield at, {"literal": smooth}


def _squares(draft: Draft, message: str) -> Iterator[tuple[int, Any]]:
    """Yield squares in place of what has the two extents that a message names."""
    pairs = [[int(one), int(other)] for one, other in _PAIR.findall(message)]
    if not _SQUARE.search(message):
        return
    for at, value in enumerate(draft):
        for pair in pairs:
            sizes = dict.fromkeys(each for each in pair if each > 1)
            if isinstance(value, list) and value == pair:
                yield from ((at, [size, size]) for size in sizes)
            elif is_floating(value) and shape_of(value)[-2:] == pair:
                own = shape_of(value)[:-2]
                shapes = ((*own, size, size) for size in sizes)
                yield from ((at, {"values": matrices("square", shape)}) for shape in shapes)


_EXTENTS = (
    re.compile(
        r"\bexpected (?:\w+ ){0,2}(?P<wanted>\d{1,2})\b[^.\d]{0,20}\b(?:got|found|is)\b[^.\d]{0,12}"
        r"(?P<given>\d{1,2})(?![\d.])",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:length|size) (?P<given>\d{1,2})\b[^.]*\bexpected (?P<wanted>\d{1,2})\b"),
)
"""Match ``expected 5, got 4`` and ``length 4 (expected 5)``, of an extent."""

_LAST = re.compile(r"\b(?P<name>\w+) (?:must|should) have shape \(\.\.\., ?(?P<wanted>\d{1,2})\)")
"""Matches ``x must have shape (..., 5)``."""


def _extents(names: Sequence[str], draft: Draft, message: str) -> Iterator[tuple[int, Any]]:
    """Yield tensors with the extent that a message wants, in place of the one that it got."""
    drawn = [at for at, each in enumerate(draft) if is_floating(each) and "values" not in each]
    for found in _LAST.finditer(message):
        for at in drawn:
            if names[at] == found["name"]:
                shape = [*shape_of(draft[at])[:-1], int(found["wanted"])]
                yield at, {**draft[at], "shape": shape}
    for found in (each for pattern in _EXTENTS for each in pattern.finditer(message)):
        for at in drawn:
            own = shape_of(draft[at])
            for axis in reversed(range(len(own))):
                if own[axis] == int(found["given"]) and int(found["wanted"]):
                    shape = [*own[:axis], int(found["wanted"]), *own[axis + 1 :]]
                    yield at, {**draft[at], "shape": shape}


_BOUNDED = re.compile(
    r"\b(?:requires?|needs?|expects?|expected|must have|should have)(?: that)? `?"
    r"(?P<name>\w+)`? ?(?P<sign><=|>=|<|>) ?(?P<end>-?\d+(?:\.\d+)?)(?![\w.]*\d)"
)
"""Matches ``requires z <= 0``."""


def _bounded(names: Sequence[str], draft: Draft, message: str) -> Iterator[tuple[int, Any]]:
    """Yield tensors on the side of a bound that a message requires.

    It may call `z_obs` by the beginning of its name, if no other argument has that.
    """
    for found in _BOUNDED.finditer(message):
        called = found["name"]
        named = [at for at, name in enumerate(names) if name == called]
        named = named or [at for at, name in enumerate(names) if name.startswith(f"{called}_")]
        if len(named) != 1 or not is_floating(draft[named[0]]) or "values" in draft[named[0]]:
            continue
        end = float(found["end"])
        low, high = (Range(high=end) if "<" in found["sign"] else Range(low=end)).inside()
        yield named[0], {**draft[named[0]], "low": low, "high": high}


def _complex(names: Sequence[str], draft: Draft, message: str) -> Iterator[tuple[int, Any]]:
    if not _COMPLEX.search(message) or _GOT_COMPLEX.search(message):
        return
    real = [at for at, each in enumerate(draft) if is_floating(each) and "dtype" not in each]
    named = [at for at in real if _mentions(message, names[at])]
    for at in named or real:
        yield at, {"shape": shape_of(draft[at]), "dtype": "complex128"}

"""Rules as users write them, by code, prefix or name, checked against the existing rules."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gradtool.errors import UsageError
from gradtool.spelling import did_you_mean
from gradtool.verify.rules import NAMES, RULES

NOT_IMPORTED = "GT001"
NO_CASE = "GT002"
FORWARD_RAISED = "GT003"
BACKWARD_RAISED = "GT004"
CRASHED = "GT005"
TIMED_OUT = "GT006"
OUT_OF_MEMORY = "GT007"
ENDED = "GT008"
CHECKER_REPLACED = "GT009"
SOURCE_CHANGED = "GT010"
NOT_REACHED = "GT011"
WRONG_GRADIENT = "GT101"
CALLS_INTERFERE = "GT111"
NOTHING_CHECKED = "GT119"
SURROGATE = "GT120"
INPUT_MUTATED = "GT501"
KEPT_ON_CTX = "GT505"
LEAK = "GT510"
NEEDLESS = "GT511"
EXPIRED = "GT512"
LOSES_PRECISION = "GT601"
NOT_VERIFIED = "GT603"
NOT_EXECUTED = "GT604"
ENGINES = "GT702"

FINAL = frozenset({CHECKER_REPLACED, SOURCE_CHANGED})
"""Rules that no setting, comment or baseline excuses: the answers themselves are in doubt.

Here and not in the rules, so that a process that only reports need not import them.
"""


def problem_with(code: str) -> str | None:
    """Explain why `code` is no code, prefix or name of a rule; None if it is one."""
    if _is_known(code):
        return None
    upper = code.upper()
    near = (
        f" (did you mean {upper!r}?)"
        if _is_known(upper)
        else suggestion(code, [*RULES, *NAMES.values()])
    )
    return f"unknown rule {code!r}{near or _ALL}"


_ALL = " (gradtool explain lists them all)"

_LIKE_A_CODE = re.compile(r"GT.{1,4}", re.IGNORECASE)

_MISREAD = ("OIL", "011")
"""Letters, and the digits that they are taken for."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """The nearest of the `known` codes and names, in parentheses; nothing if none is near.

    A code is near to one of which it lacks a character, or has one wrong or too many: others are
    about something else, however alike they look.
    """
    if not _LIKE_A_CODE.fullmatch(word):
        return did_you_mean(word, known)
    read = word[:2].upper() + word[2:].upper().translate(str.maketrans(*_MISREAD))
    near = sorted(known, key=lambda each: (_edits(read, each), each))[:1]
    return "".join(f" (did you mean {each!r}?)" for each in near if _edits(read, each) < 2)


def _edits(one: str, other: str) -> int:
    """The number of characters to change, add or leave out; 2 for more."""
    if len(one) == len(other):
        return min(sum(a != b for a, b in zip(one, other, strict=True)), 2)
    longer, shorter = sorted((one, other), key=len, reverse=True)
    removed = (longer[:at] + longer[at + 1 :] for at in range(len(longer)))
    return 1 if shorter in removed else 2


def _is_known(code: str) -> bool:
    return bool(code) and (code in _CODES or any(known.startswith(code) for known in RULES))


_CODES = {name: code for code, name in NAMES.items()}


def matching(patterns: Iterable[str]) -> frozenset[str]:
    """The codes that match `patterns`, which are codes, prefixes or names."""
    prefixes = tuple(_CODES.get(pattern, pattern) for pattern in patterns)
    return frozenset(code for code in RULES if code.startswith(prefixes))


def require_known(patterns: Iterable[str], option: str) -> None:
    """Refuse codes that do not exist, given by the command line's `option`.

    Raises:
        UsageError: A code or prefix matches no rule.
    """
    for code in patterns:
        problem = problem_with(code)
        if problem:
            raise UsageError(f"{option}: {problem}")

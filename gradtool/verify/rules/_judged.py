"""What rules make of a `Judgement`: the verdict, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.rules._rule import Answer, Flaw, failed, passed, unverified

if TYPE_CHECKING:
    from gradtool.verify.comparison.judgement import Judgement


def answer(judgement: Judgement, flaws: Iterable[Flaw]) -> Answer:
    """Failed with `flaws`; without any, what the judgement's worst decision comes to."""
    found = tuple(flaws)
    if found:
        return failed(*found)
    if judgement.worst is Decision.UNVERIFIED:
        return unverified("the numeric derivative is not accurate enough")
    if judgement.worst is Decision.KINK:
        return passed("no derivative at this point; the gradient lies between the slopes")
    if judgement.is_nearby:
        return passed("no derivative at this point; checked nearby")
    return passed()

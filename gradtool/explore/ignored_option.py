"""An option that backward ignores, or that forward does: gradients with the option of the case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import structs

from gradtool.cases.sources import ResolvedCase
from gradtool.collect.checkable import Checkable
from gradtool.explore.excuses import has_same_outputs
from gradtool.explore.observed import exact_gradients, returned_gradients
from gradtool.explore.point import Point
from gradtool.explore.variants.plain import with_defaults
from gradtool.verify.examine import Outcome
from gradtool.verify.protocol.observation import Array
from gradtool.verify.rules import codes

_RTOL = 1e-9
"""Relative difference of two gradients that are the same but for rounding."""


def with_ignored_option(
    checkable: Checkable, outcome: Outcome, case: Point, variant: Point, seed: int
) -> Outcome:
    """The outcome at a variant, which names the option that explains a wrong gradient, if one does.

    A step of forward that has the option explains more. Without it, an edit is right by chance.
    """
    is_gradient = outcome.rule.code == codes.WRONG_GRADIENT
    found = _ignored(checkable, case, variant, seed) if is_gradient else None
    if found is None:
        return outcome
    name, before = found
    text = f"backward ignores `{name}`: it returns the derivative for {before!r}"
    has_option = re.compile(rf"\b{re.escape(name)}\b")
    flaws = tuple(
        flaw
        if flaw.step and has_option.search(flaw.hint or "")
        else structs.replace(flaw, hint=text)
        for flaw in outcome.flaws
    )
    return structs.replace(outcome, flaws=flaws)


def is_fixed_by_call(
    checkable: Checkable, case: ResolvedCase, at: Point, variant: Point, seed: int
) -> bool:
    """Return True if forward ignores an option for which each call gives the value it has built in.

    Only backward reads it, such as the bounds beyond which an activation is known to be flat, and
    with the value of the call that the case follows, the gradient is right.
    """
    changed = dict(changed_options(at, variant))
    if not changed or not (case.inferred_from or "").startswith("the call"):
        return False
    before = variant.having(changed)
    found = returned_gradients(checkable, before, seed)
    return has_same_outputs(checkable, before, variant) and _are_same(
        found, exact_gradients(checkable, before, seed)
    )


def is_computed_by_caller(case: ResolvedCase, at: Point, variant: Point) -> bool:
    """Return True for another number in place of one that a caller of the Function passed.

    The caller may have computed it from the other arguments, such as the floor of one of them.
    """
    is_of_caller = (case.inferred_from or "").startswith("a call")
    before = (value for _, value in changed_options(at, variant))
    return is_of_caller and any(type(value) in (int, float) for value in before)


def _ignored(
    checkable: Checkable, case: Point, variant: Point, seed: int
) -> tuple[str, Any] | None:
    """The name of the option that backward ignores, and the value that it has in mind."""
    changed = list(changed_options(with_defaults(case, checkable.parameters()), variant))
    found = returned_gradients(checkable, variant, seed) if changed else {}
    for at, before in changed if found else ():
        exact = exact_gradients(checkable, variant.having({at: before}), seed)
        if _are_same(found, exact):
            return variant.names[at], before
    return None


def changed_options(case: Point, variant: Point) -> Iterator[tuple[int, Any]]:
    """Yield the position of each argument that is no tensor and differs, and its former value."""
    before = {case.names[at]: case.values[at] for at in case.plain}
    for at in variant.plain:
        name = variant.names[at]
        if name in before and repr(before[name]) != repr(variant.values[at]):
            yield at, before[name]


def _are_same(found: dict[int, Array], exact: dict[int, Array]) -> bool:
    return found.keys() == exact.keys() and all(
        mine.shape == exact[at].shape
        and np.allclose(
            mine, exact[at], rtol=_RTOL, atol=_RTOL * np.abs(exact[at]).max(initial=0.0)
        )
        for at, mine in found.items()
    )

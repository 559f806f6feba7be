"""Variants of two changes, each of which alone is right: other options, and special values.

A power below one has a pole only where its base is zero, and a floor that is off by a factor shows
only where values reach it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from msgspec import structs

from gradtool.adapters.common.random_state import generator
from gradtool.cases.sources import ResolvedCase
from gradtool.collect.checkable import Checkable
from gradtool.explore.coverage import Branches
from gradtool.explore.families import (
    Family,
    Test,
    beside_values,
    of_indices,
    of_tensors,
)
from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.names import is_epsilon
from gradtool.explore.reading.source import iterations
from gradtool.explore.reading.stated_values import statements
from gradtool.explore.reading.wording import wording
from gradtool.explore.variants.extents import in_turns
from gradtool.explore.variants.limits import beside_limits
from gradtool.explore.variants.values import mixed, small

_FIRST = ("small values", "sides of limits", "far values", "saturated values")
"""The families of values that are tried with each option first."""

_OTHERS = (
    "different sizes",
    "zeros",
    "ties",
    "masks",
    "limits at zero",
    "indices",
    "precisions",
    "ends of the range",
    "values",
    "padding",
    "equal keys",
    "constant axes",
    "norms of rows",
    "signs",
)
"""The others, the likeliest first."""

Named = tuple[str, Variant]


def combined(
    checkable: Checkable,
    case: ResolvedCase,
    bases: Sequence[Variant],
    branches: Branches,
    kept: Test,
) -> Iterator[Named]:
    """Yield variants of a case, each with the name of the family that its values are of.

    Args:
        checkable: The Function.
        case: The case.
        bases: Variants of its options at which backward is right; most kinds of values are tried
            with another of them first.
        branches: Those of the Function, with what they compared.
        kept: Returns True for variants that docstrings allow.
    """
    streams = [
        _special_values(checkable, case, base, branches, number)
        for number, base in enumerate(bases)
    ]
    for name, variant in in_turns(streams):
        if kept(variant):
            yield name, variant


def _special_values(
    checkable: Checkable, case: ResolvedCase, base: Variant, branches: Branches, number: int
) -> Iterator[Named]:
    """Yield variants of special values beside those of a base, one of each family in turn.

    After the first families comes the other one that is `number` places from their beginning.
    """
    known = _families(checkable, case, base.point, branches)
    if any(is_epsilon(base.point.names[each.at]) for each in base.options):
        known["small values"] = lambda: small(base.point)
    if not _are_stated(checkable, [base.point.names[each.at] for each in base.options]):
        known.pop("saturated values", None)  # A pole of a power below one, as like as not.
    others = deque(name for name in _OTHERS if name in known)
    others.rotate(-number)
    names = (*(name for name in _FIRST if name in known), *others)
    for name, variant in in_turns([_named(name, known[name]) for name in names]):
        yield name, _with_options(variant, base)


def _are_stated(checkable: Checkable, names: Sequence[str]) -> bool:
    """Return True if a docstring says which values each of some options may have."""
    text = wording(checkable.obj).docstrings
    return {*names} <= {each.name for each in statements(text, {*names})}


def _families(
    checkable: Checkable, case: ResolvedCase, point: Point, branches: Branches
) -> dict[str, Family]:
    known = of_tensors(checkable, case, point) | of_indices(checkable, case, point)
    if iterations(checkable.obj) is None:
        known |= beside_values(checkable, case, point, branches)
        known["different sizes"] = lambda: mixed(point)
        rng = generator(case.seed, "beside limits")
        if not wording(checkable.obj).is_never_limited:
            known["sides of limits"] = lambda: beside_limits(point, branches, rng)
    return known


def _with_options(variant: Variant, base: Variant) -> Variant:
    return structs.replace(
        variant,
        change=f"{base.change}, and {variant.change}",
        options=base.options,
        growth=None,
        is_plain=False,
        is_less_special=False,
        may_raise=True,
        may_be_outside=variant.may_be_outside or base.may_be_outside,
    )


def _named(name: str, family: Family) -> Iterator[Named]:
    for variant in family():
        yield name, variant

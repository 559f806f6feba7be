"""The catalogue of the edits of a forward, the ones that are said most plainly first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradtool.adapters.common.alterations.forward.calls import calls_passed
from gradtool.adapters.common.alterations.forward.control_flow import (
    branches,
    branches_of_entries,
    turns,
)
from gradtool.adapters.common.alterations.forward.edit import Computed, Edit, Forward
from gradtool.adapters.common.alterations.forward.factors import (
    factors_added,
    factors_for_others,
    factors_forgotten,
)
from gradtool.adapters.common.alterations.forward.operations import other_operations
from gradtool.adapters.common.alterations.forward.parts import parts_computed, parts_differentiated
from gradtool.adapters.common.alterations.forward.points import (
    taken_after,
    taken_elsewhere,
    taken_with_others,
)
from gradtool.adapters.common.alterations.forward.variables import (
    counted_twice,
    saved_for_others,
    swapped,
)

Family = Callable[[Forward], Iterator[Edit]]
"""A kind of edit: all of this kind that a function may have."""

FamilyOfOne = Callable[[Computed], Iterator[Edit]]
"""The same of one expression."""


def edits(forward: Forward) -> Iterator[Edit]:
    """Yield the edits of a function in the order in which they are tried."""
    for family in _FAMILIES:
        yield from family(forward)


def _of_each(*families: FamilyOfOne) -> Family:
    """Return the family of all edits of one expression, then of the next one."""

    def found(forward: Forward) -> Iterator[Edit]:
        for computed in forward.computed:
            for family in families:
                yield from family(computed)

    return found


_FAMILIES: tuple[Family, ...] = (
    branches,
    turns,
    _of_each(branches_of_entries),
    _of_each(factors_forgotten),
    _of_each(parts_differentiated),
    _of_each(parts_computed),
    _of_each(other_operations),
    _of_each(
        calls_passed,
        swapped,
        factors_for_others,
        counted_twice,
        taken_elsewhere,
        taken_with_others,
    ),
    taken_after,
    saved_for_others,
    _of_each(factors_added),
)

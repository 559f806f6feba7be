"""The catalogue of the repairs of a backward, the plainest first."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from gradtool.adapters.common.alterations.backward.constants import (
    multiples,
    nudged_numbers,
    numbers_of_calls,
    ones_for_variables,
    other_numbers,
    scaled_numbers,
)
from gradtool.adapters.common.alterations.backward.control_flow import conditions, longer_loops
from gradtool.adapters.common.alterations.backward.directions import directions
from gradtool.adapters.common.alterations.backward.entries import (
    bounds_left_out,
    offsets_left_out,
    other_entries,
    without_wrapping,
)
from gradtool.adapters.common.alterations.backward.exchanged_terms import exchanged_terms
from gradtool.adapters.common.alterations.backward.factors import (
    complements,
    extents_of_numbers,
    factors_of_results,
    factors_of_terms,
    factors_of_variables,
    halves_and_doubles,
    weighed_ends,
)
from gradtool.adapters.common.alterations.backward.gates import gates
from gradtool.adapters.common.alterations.backward.grafts import factor_grafts, grafts
from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.moved_factors import moved_factors
from gradtool.adapters.common.alterations.backward.operations import (
    exchanged,
    parts,
    products,
    signs,
    terms,
)
from gradtool.adapters.common.alterations.backward.orientations import (
    doubled_pairs,
    halved_diagonals,
    index_orientations,
    orientations,
    transposed_systems,
    transposes,
    without_gaps,
)
from gradtool.adapters.common.alterations.backward.reductions import (
    divisors,
    kept_dims,
    masked_means,
    other_counts,
    summed_factors,
    unbiased_means,
)
from gradtool.adapters.common.alterations.backward.repair import Repair, made_by
from gradtool.adapters.common.alterations.backward.statements import (
    accumulations,
    left_out,
    targets_exchanged,
)
from gradtool.adapters.common.alterations.backward.swapped_functions import swapped_functions
from gradtool.adapters.common.alterations.backward.switches import switches
from gradtool.adapters.common.alterations.backward.variables import (
    differences,
    functions,
    in_all_uses,
    in_two_uses,
    other_variables,
)
from gradtool.adapters.common.alterations.held import Held

Family = Callable[[Backward], Iterator[Repair]]
"""A kind of repair: all of this kind that a backward may have."""


def repairs(backward: Backward) -> Iterator[Repair]:
    """Yield the repairs of a backward in the order in which they are tried.

    What decides a comparison comes last: where only a few entries are near, almost anything may.
    """
    compared = {
        inner
        for node in backward.nodes
        if isinstance(node, ast.Compare)
        for inner in ast.walk(node)
        if inner is not node
    }
    deferred: list[Repair] = []
    for family in _FAMILIES:
        for repair in family(backward):
            if repair.node in compared:
                deferred.append(repair)
            else:
                yield repair
    yield from deferred


def _of_each(family: Callable[[ast.expr], Iterator[ast.expr]]) -> Family:
    """Return the family that puts what is made of an expression in its place, one by one."""
    return lambda backward: made_by(family, backward.places)


def _of_each_with_held(family: Callable[[ast.expr, Held], Iterator[ast.expr]]) -> Family:
    """Return the same of what is made of an expression and the variables of backward."""
    return lambda backward: made_by(lambda node: family(node, backward.held), backward.places)


_FAMILIES: tuple[Family, ...] = (
    targets_exchanged,
    left_out,
    accumulations,
    longer_loops,
    _of_each(offsets_left_out),
    _of_each(signs),
    _of_each(terms),
    _of_each(switches),
    _of_each(kept_dims),
    parts,
    bounds_left_out,
    _of_each(exchanged),
    _of_each(products),
    _of_each(doubled_pairs),
    halved_diagonals,
    _of_each(transposes),
    _of_each(transposed_systems),
    conditions,
    gates,
    _of_each(directions),
    _of_each(without_gaps),
    without_wrapping,
    divisors,
    _of_each(other_counts),
    other_numbers,
    numbers_of_calls,
    ones_for_variables,
    halves_and_doubles,
    _of_each_with_held(other_variables),
    scaled_numbers,
    nudged_numbers,
    multiples,
    _of_each(functions),
    index_orientations,
    _of_each_with_held(masked_means),
    _of_each(unbiased_means),
    _of_each(other_entries),
    in_all_uses,
    grafts,
    factors_of_results,
    exchanged_terms,
    orientations,
    in_two_uses,
    factors_of_variables,
    complements,
    _of_each_with_held(differences),
    extents_of_numbers,
    factors_of_terms,
    swapped_functions,
    moved_factors,
    factor_grafts,
    weighed_ends,
    summed_factors,
)

"""The variants of a case: those that take an unseen side of a branch, then each family in turn."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import msgspec

from gradtool.adapters.common.batching import has_own_vmap
from gradtool.adapters.common.random_state import generator
from gradtool.cases.sources import ResolvedCase
from gradtool.collect.checkable import Checkable
from gradtool.explore.convergence import can_be_told, has_converged
from gradtool.explore.coverage import Branches
from gradtool.explore.observed import changed_arguments, exact_gradients, read_as_symmetric
from gradtool.explore.point import Axis, Point, Variant
from gradtool.explore.reading.arithmetic import (
    diagonals,
    divided,
    edges,
    exponents,
    is_exact_near_zero,
    keeps_bytes,
    reads_memory,
)
from gradtool.explore.reading.axis_names import axis_names
from gradtool.explore.reading.comparisons import (
    axis_counts,
    compares_entries,
    guards,
    guards_divisions,
    loop_counts,
    numbered_choices,
    takes_sizes,
    tested_for_nan,
    tested_for_truth,
    tested_near_zero,
    thresholds,
)
from gradtool.explore.reading.components import component_axes
from gradtool.explore.reading.constraints import constraints
from gradtool.explore.reading.index_uses import may_repeat_when_longer, sorted_arguments
from gradtool.explore.reading.kernels import documentation_of_kernels
from gradtool.explore.reading.mask_dtypes import mask_dtypes
from gradtool.explore.reading.mentioned_values import mentioned, speaks_of_infinity
from gradtool.explore.reading.names import is_axis
from gradtool.explore.reading.source import (
    asks_for_needed,
    blocks,
    gives_eigenvectors,
    iterations,
    slices_by_name,
    solves,
    step_of_integers,
    takes_eigenvalues,
    takes_shares,
    trees,
    words,
)
from gradtool.explore.reading.stated_values import statements
from gradtool.explore.reading.wording import wording
from gradtool.explore.stale import nearby_numbers, other_indices
from gradtool.explore.variants.axis_groups import tied_axes
from gradtool.explore.variants.callables import dropping
from gradtool.explore.variants.documented import documented
from gradtool.explore.variants.equal_axes import equal_axes
from gradtool.explore.variants.extents import Extents, beside_options, extents, integers, large
from gradtool.explore.variants.guided import guided
from gradtool.explore.variants.indices import (
    at_the_end,
    crowded,
    equal_keys,
    far_places,
    from_the_end,
    ignored,
    in_narrow_integers,
    matched,
    places_from_the_end,
    regrouped,
    reordered,
    repeated,
    segments,
    unsorted,
    without_last,
)
from gradtool.explore.variants.intervals import filled
from gradtool.explore.variants.invariances import offset, rescaled
from gradtool.explore.variants.leading import leading
from gradtool.explore.variants.less_special import learned, less_special, turned, uneven
from gradtool.explore.variants.limits import at_centers, earlier_stops, far_floors, moved_limits
from gradtool.explore.variants.masks import forbidden, masks, missing, padded
from gradtool.explore.variants.matrices import asymmetric, degenerate, has_two_triangles
from gradtool.explore.variants.optional import optional, with_choices
from gradtool.explore.variants.plain import (
    Options,
    among_positive,
    is_among,
    plain,
    with_defaults,
)
from gradtool.explore.variants.precisions import beyond_guards, fewer_digits
from gradtool.explore.variants.ranks import below_vmap, longer_shapes
from gradtool.explore.variants.removed import both_signs, other_lengths
from gradtool.explore.variants.shares import shares
from gradtool.explore.variants.spread import spread
from gradtool.explore.variants.starred import one_for_each, starred
from gradtool.explore.variants.stated_shapes import with_options
from gradtool.explore.variants.tensor_numbers import tensor_numbers
from gradtool.explore.variants.ties import levels, ties
from gradtool.explore.variants.values import (
    falling,
    far,
    larger,
    near,
    reversed_axes,
    saturated,
    turned_back,
    values,
)
from gradtool.explore.variants.zeros import at_limits, counts, ends, shared_zeros, whole, zeros
from gradtool.verify.protocol.coordinates import is_continuous

Family = Callable[[], Iterator[Variant]]
Test = Callable[[Variant], bool]

_SMALL = 1e-5
"""Numbers whose square float32 does not hold next to one."""

_MOST_TRIED = 4
"""Variants of one family in a turn, of which forward refuses all but the last."""

_OFTEN = ("extents", "options")
"""Families with two turns in the time in which others have one."""


class Turns(msgspec.Struct):
    """The turns of families, which depend on what became of the last variant."""

    family: str = ""
    """The one whose turn it is."""
    was_refused: bool = False
    """Forward refused the variant: its family has another one at once."""


def variants(
    checkable: Checkable,
    case: ResolvedCase,
    point: Point,
    branches: Branches,
    turns: Turns,
    points: Sequence[Point],
    kept: Test,
) -> Iterator[Variant]:
    """Yield all variants of a case, whose arguments are `point`, that are `kept`.

    What `branches` lacks comes first; the other families share the budget. `points` are those of
    all cases: where one of them passes None, others may.
    """
    live = deque(
        (name, filter(kept, stream))
        for name, stream in _streams(checkable, case, point, branches, points)
    )
    turns.family, stream = live.popleft()
    yield from stream
    while live:
        turns.family, stream = live.popleft()
        is_at_end = True
        for variant in islice(stream, _MOST_TRIED):
            is_at_end = turns.was_refused = False
            yield variant
            if not turns.was_refused:
                break
        if not is_at_end:
            place = len(live) // 2 if turns.family in _OFTEN else len(live)
            live.insert(place, (turns.family, stream))


def kept_by(checkable: Checkable, point: Point, points: Sequence[Point]) -> Test:
    """Return a test for variants of a case, whose arguments are `point`, that docstrings allow.

    `points` are those of all cases: where one of them breaks a condition, variants may.
    """
    # Docstrings also state values of what a case leaves at its default.
    cases = [*points, with_defaults(point, checkable.parameters())]
    function = checkable.obj
    text = f"{wording(function).docstrings}\n{documentation_of_kernels(function)}"
    kept = constraints(text, trees(function), point, cases)
    return lambda variant: all(holds(variant.point) for holds in kept)


def _streams(
    checkable: Checkable,
    case: ResolvedCase,
    point: Point,
    branches: Branches,
    points: Sequence[Point],
) -> Iterator[tuple[str, Iterator[Variant]]]:
    """The variants of branches, then those of each family."""
    parameters, moves_values = checkable.parameters(), iterations(checkable.obj) is None
    rng = generator(case.seed, "guided")
    may_cross = moves_values and not wording(checkable.obj).is_never_limited
    yield "branches", guided(point, branches, parameters, rng, moves_values=may_cross)
    families = _of_arguments(checkable, case, point, points)
    families |= of_tensors(checkable, case, point) | of_indices(checkable, case, point)
    if has_own_vmap(checkable.obj):
        families["ranks below vmap"] = lambda: below_vmap(point, generator(case.seed, "vmap"))
    if wording(checkable.obj).is_unrolled:
        full = with_defaults(point, parameters)
        families["tolerances"] = lambda: earlier_stops(full, branches)
    if moves_values:
        families |= beside_values(checkable, case, point, branches)
    yield from ((name, family()) for name, family in families.items())


def _of_arguments(
    checkable: Checkable, case: ResolvedCase, point: Point, points: Sequence[Point]
) -> dict[str, Family]:
    """Families of extents and of arguments that are no tensors."""
    function, parameters = checkable.obj, checkable.parameters()
    full, draws = with_defaults(point, parameters), partial(generator, case.seed)
    known, axes = _options(checkable, full, points), _extents(checkable, case, full, points)
    return {
        "extents": lambda: extents(point, axes, draws("extents")),
        "large extents": lambda: large(point, axes, draws("large extents")),
        "crowded groups": lambda: _unless(
            not axes.keeps_bytes, crowded(point, extents(point, axes, draws("crowded")))
        ),
        "far places": lambda: _unless(
            not axes.keeps_bytes,
            far_places(function, extents(point, axes, draws("far places"))),
        ),
        "places beyond a byte": lambda: in_narrow_integers(full),
        # Many points that are close together make a matrix singular.
        "spread constants": lambda: _unless(
            solves(function), spread(point, points, axes, draws("spread"))
        ),
        "options": lambda: plain(point, parameters, known),
        "functions with dropout": lambda: dropping(function, full),
        "numbers beside a cache": lambda: nearby_numbers(checkable, full),
        "indices beside a cache": lambda: other_indices(checkable, full),
        "axes of equal length": lambda: equal_axes(full, draws("equal axes")),
        "options with positive numbers": lambda: among_positive(
            full, plain(full, parameters, known)
        ),
        "documented shapes": lambda: documented(checkable, point, draws("documented")),
        "stated shapes with options": lambda: with_options(
            wording(function).docstrings, full, parameters, known, draws("stated shapes")
        ),
        "leading axes": lambda: leading(checkable, full, points, draws("leading")),
        "optional tensors": lambda: optional(checkable, point, points),
        "optional tensors with options": lambda: with_choices(
            point, optional(checkable, point, points), parameters, known
        ),
        "options with extents": lambda: beside_options(
            full, plain(full, parameters, known), draws("beside options"), known.divided
        ),
        "ignored labels": lambda: ignored(function, full),
        "tensors for numbers": lambda: tensor_numbers(function, full, parameters),
        "longer shapes": lambda: longer_shapes(full, draws("longer shapes")),
        "any number of tensors": lambda: starred(point, parameters),
    }


def _options(checkable: Checkable, full: Point, points: Sequence[Point]) -> Options:
    """Knowledge of the arguments that are no tensors."""
    function, said = checkable.obj, wording(checkable.obj)
    iteration = iterations(function)
    counts = iteration.counts if iteration else frozenset[str]()
    stated = set(filter(said.is_stated_count, counts))
    return Options(
        words=words(function, dict(zip(full.names, full.values, strict=True))),
        kept=counts - stated,
        counts=stated,
        fixed={at.names[each] for at in points for each in at.tensors} | _of_processes(full),
        free={name for name in full.names if said.may_be_negative(name)} | diagonals(function),
        divided=divided(function),
        whole=said.whole(checkable.parameters()),
        tested=tested_for_truth(function),
        step=step_of_integers(function),
        elsewhere=_given(points),
        mentioned=mentioned(said.docstrings, full.names),
        exponents=exponents(function),
        natural=numbered_choices(function) | loop_counts(function),
        axis_counts=axis_counts(function),
        may_be_infinite=speaks_of_infinity(said.docstrings),
        grows_guards=iteration is None,
        positive={each.name for each in statements(said.docstrings, set(full.names)) if each.name},
    )


def _given(points: Sequence[Point]) -> dict[str, list[Any]]:
    """For each name the None, words and axes that any case gives: a size fits its own case only."""
    found: dict[str, list[Any]] = {}
    for at in points:
        for place in at.plain:
            name, value = at.names[place], at.values[place]
            is_choice = value is None or isinstance(value, bool | str) or is_axis(name)
            if is_choice and not is_among(value, found.setdefault(name, [])):
                found[name].append(value)
    return found


def _of_processes(point: Point) -> set[str]:
    """The names of numbers of processes, which follow from the group that is given beside them."""
    if not any(re.fullmatch(r"(.*_)?(group(_name)?|pg)", name) for name in point.names):
        return set()
    return {name for name in point.names if re.fullmatch(r"(.*_)?(group|world)_size", name)}


def _extents(
    checkable: Checkable, case: ResolvedCase, full: Point, points: Sequence[Point]
) -> Extents:
    """Knowledge of the axes of the arguments."""
    function, is_strided = checkable.obj, reads_memory(checkable.obj)
    return Extents(
        blocks=(*blocks(function), *integers(full)),
        fixed=component_axes(function, full)
        | _chosen_axes(case, full)
        | one_for_each(full, checkable.parameters()),
        # Shapes that do not fit raise no error there, so all axes of one extent change together.
        names={} if is_strided else axis_names(function, full),
        reads_memory=is_strided,
        repeats=may_repeat_when_longer(function, full),
        keeps_order=solves(function) and not wording(function).may_be_wide,
        may_be_tall=wording(function).may_be_tall,
        tied=tied_axes(points),
        takes_parts=slices_by_name(function),
        keeps_bytes=keeps_bytes(function),
    )


def _chosen_axes(case: ResolvedCase, full: Point) -> set[Axis]:
    """The axes of integer tensors to which inference gave one entry, as of labels.

    Further entries may repeat the first, which no caller may ever pass. And those of constants that
    a caller made, such as a kernel with the extents for which backward has its padding.
    """
    if case.source != "inferred":
        return set()
    is_of_caller = (case.inferred_from or "").startswith("a call")
    return {
        (at, axis)
        for at, array in full.arrays()
        for axis, extent in enumerate(array.shape)
        if (array.dtype.kind in "iu" and array.ndim > 1 and extent == 1)
        or (is_of_caller and is_continuous(array.dtype) and at not in full.tracked)
    }


def of_tensors(checkable: Checkable, case: ResolvedCase, point: Point) -> dict[str, Family]:
    """Families of the values of tensors."""
    function, draws, said = checkable.obj, partial(generator, case.seed), wording(checkable.obj)
    is_scaled = iterations(function) is None
    return {
        "values": lambda: values(
            point,
            draws("values"),
            is_scaled=is_scaled,
            is_exact_near_zero=is_exact_near_zero(function),
        ),
        "opposite vectors": lambda: _unless(not said.speaks_of_unit_vectors, turned_back(point)),
        "far values": lambda: far(point, is_any_size=said.is_stable),
        "saturated values": lambda: _unless(
            said.is_moderate or not takes_shares(function), saturated(point)
        ),
        "larger values": lambda: _converging(checkable, point),
        "reversed axes": lambda: reversed_axes(point),
        "falling numbers": lambda: falling(point, needs_order=said.needs_order),
        "constants": lambda: less_special(point, said.may_weigh, said.is_nonzero),
        "uneven grids": lambda: _unless(said.needs_even_spacing, uneven(point)),
        "learned tensors": lambda: learned(
            function,
            point,
            partial(changed_arguments, checkable, point),
            is_asked=asks_for_needed(function),
        ),
        "complex numbers": lambda: turned(function, point),
        "signs": lambda: both_signs(function, point),
        "norms of rows": lambda: other_lengths(function, point),
        **_of_equal_entries(checkable, case, point),
        **_of_special_numbers(checkable, case, point),
    }


def _of_equal_entries(checkable: Checkable, case: ResolvedCase, point: Point) -> dict[str, Family]:
    """Families of tensors some of whose entries, rows or eigenvalues are equal."""
    function, draws, said = checkable.obj, partial(generator, case.seed), wording(checkable.obj)
    # Constant rows or columns make a matrix singular.
    has_levels = not (solves(function) or said.needs_distinct or said.needs_general_position)
    return {
        "ties": lambda: _unless(
            said.needs_distinct,
            ties(
                point,
                draws("ties"),
                has_order=compares_entries(function),
                has_sizes=takes_sizes(function),
                may_meet=not said.needs_points_apart,
                may_equal_constants=said.may_be_equal,
            ),
        ),
        "constant axes": lambda: _unless(not has_levels, levels(point, draws("levels"))),
        "eigenvalues": lambda: _unless(
            said.needs_distinct or gives_eigenvectors(checkable.obj),
            degenerate(point, are_symmetrized=takes_eigenvalues(checkable.obj)),
        ),
    }


def _of_special_numbers(
    checkable: Checkable, case: ResolvedCase, point: Point
) -> dict[str, Family]:
    """Families of tensors with zeros and whole numbers, or without symmetry or a sum of one."""
    function, draws, said = checkable.obj, partial(generator, case.seed), wording(checkable.obj)
    return {
        "asymmetric matrices": lambda: _asymmetric(checkable, case, point),
        "zeros": lambda: _unless(
            said.needs_nonzero, zeros(point, draws("zeros"), edges(function, point.names))
        ),
        "shared zeros": lambda: shared_zeros(
            point, lambda name: guards_divisions(function) or said.may_vanish(name)
        ),
        "limits at zero": lambda: at_limits(point, tested_near_zero(function)),
        "whole numbers": lambda: whole(point, draws("whole")),
        "sums": lambda: rescaled(checkable, point),
        "shares": lambda: shares(checkable, point),
    }


def _converging(checkable: Checkable, point: Point) -> Iterator[Variant]:
    """Yield larger values at which a forward that iterates converges."""
    full = with_defaults(point, checkable.parameters())
    bound = wording(checkable.obj).bound_of_norm
    for variant in larger(full, bound) if can_be_told(checkable, full) else ():
        if has_converged(checkable, variant.point):
            yield variant


def of_indices(checkable: Checkable, case: ResolvedCase, point: Point) -> dict[str, Family]:
    """Families of integer tensors and masks."""
    function, draws, said = checkable.obj, partial(generator, case.seed), wording(checkable.obj)
    return {
        "counts": lambda: _unless(said.needs_nonzero, counts(function, point)),
        "indices": lambda: _unless(said.needs_distinct, repeated(function, point)),
        "indices without the last": lambda: _unless(
            said.needs_distinct, without_last(function, point)
        ),
        "equal labels": lambda: matched(function, point),
        "orders of rows": lambda: reordered(point, draws("orders")),
        "equal keys": lambda: _unless(said.needs_distinct, equal_keys(function, point)),
        "indices from the end": lambda: from_the_end(checkable, point),
        "places from the end": lambda: places_from_the_end(checkable, point),
        "last indices": lambda: at_the_end(function, with_defaults(point, checkable.parameters())),
        "segments": lambda: segments(point, may_be_empty=not said.needs_some),
        "groups": lambda: regrouped(function, point, may_be_empty=not said.needs_some),
        "masks": lambda: masks(
            point,
            said.is_called_mask,
            partial(mask_dtypes, function),
            may_be_empty=not said.needs_some,
        ),
        "missing numbers": lambda: missing(point, tested_for_nan(function)),
        "padding": lambda: _unless(not said.speaks_of_padding, padded(point)),
        "forbidden entries": lambda: forbidden(point),
        "other orders": lambda: unsorted(point, sorted_arguments(function), draws("unsorted")),
    }


def _unless(excluded: bool, family: Iterator[Variant]) -> Iterator[Variant]:
    """The variants of a family, none if a docstring excludes them."""
    return iter(()) if excluded else family


def beside_values(
    checkable: Checkable, case: ResolvedCase, point: Point, branches: Branches
) -> dict[str, Family]:
    """Families for a forward that does not iterate until its values are good enough."""
    function = checkable.obj
    full, draws = with_defaults(point, checkable.parameters()), partial(generator, case.seed)
    return {
        "thresholds": lambda: near(point, thresholds(function), draws("near")),
        "precisions": lambda: fewer_digits(function, point, draws("single")),
        "digits beyond guards": lambda: _unless(
            not wording(function).speaks_of_single_precision,
            beyond_guards(
                point,
                [*guards(function), *[_SMALL] * wording(function).speaks_of_small_numbers],
                draws("guards"),
            ),
        ),
        "ends of the range": lambda: ends(function, point),
        "stated intervals": lambda: filled(wording(function).docstrings, full),
        "large means": lambda: offset(checkable, point),
        "limits": lambda: moved_limits(full, branches),
        "centers": lambda: at_centers(full, branches),
        "floors": lambda: far_floors(function, point, branches),
    }


def _asymmetric(checkable: Checkable, case: ResolvedCase, point: Point) -> Iterator[Variant]:
    if not wording(checkable.obj).needs_symmetry:

        def is_general(at: int) -> bool:
            # A gradient of symmetric matrices is right only where they are symmetric.
            if at in read_as_symmetric(checkable, point, case.seed):
                return False
            gradient = exact_gradients(checkable, point, case.seed).get(at)
            is_any = solves(checkable.obj) or wording(checkable.obj).allows_asymmetry
            return gradient is not None and (is_any or has_two_triangles(gradient))

        yield from asymmetric(point, is_general, generator(case.seed, "asymmetric"))

"""The variants of a case: those that take an unseen side of a branch, then each family in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest

from gradtool.adapters.common.random_state import generator
from gradtool.cases.inference.documentation import documentation
from gradtool.cases.sources import ResolvedCase
from gradtool.collect.checkable import Checkable
from gradtool.explore.coverage import Branches
from gradtool.explore.documented import documented
from gradtool.explore.documented_shapes import agrees, stated_shapes
from gradtool.explore.extents import beside_options, extents
from gradtool.explore.guided import guided
from gradtool.explore.indices import ignored, regrouped, repeated, segments
from gradtool.explore.limits import beside_limits
from gradtool.explore.masks import masks
from gradtool.explore.optional import optional
from gradtool.explore.plain import plain, with_defaults
from gradtool.explore.point import Point, Variant
from gradtool.explore.removed import both_signs, other_lengths
from gradtool.explore.source import (
    blocks,
    iterations,
    may_be_negative,
    may_be_wide,
    needs_symmetry,
    solves,
    step_of_integers,
    thresholds,
    words,
)
from gradtool.explore.ties import ties
from gradtool.explore.trial import exact_gradients, read_as_symmetric
from gradtool.explore.values import (
    asymmetric,
    degenerate,
    learned,
    less_special,
    near,
    single,
    values,
    whole,
    zeros,
)

Family = Callable[[], Iterator[Variant]]


def variants(
    checkable: Checkable, case: ResolvedCase, point: Point, branches: Branches
) -> Iterator[Variant]:
    """Yield all variants of a case, whose arguments are `point`, that its docstrings allow.

    What `branches` lacks comes first; the other families share the budget.
    """
    shapes = stated_shapes(documentation(checkable.obj), point)
    for variant in _all_variants(checkable, case, point, branches):
        if not shapes or agrees(shapes, variant.point):
            yield variant


def _all_variants(
    checkable: Checkable, case: ResolvedCase, point: Point, branches: Branches
) -> Iterator[Variant]:
    parameters, moves_values = checkable.parameters(), iterations(checkable.obj) is None
    rng = generator(case.seed, "guided")
    yield from guided(point, branches, parameters, rng, moves_values=moves_values)
    families = _families(checkable, case, point)
    if moves_values:
        families += _beside_values(checkable, case, point, branches)
    for row in zip_longest(*(family() for family in families)):
        yield from (each for each in row if each is not None)


def _families(checkable: Checkable, case: ResolvedCase, point: Point) -> list[Family]:
    function, parameters = checkable.obj, checkable.parameters()
    full, draws = with_defaults(point, parameters), partial(generator, case.seed)
    iteration, step = iterations(function), step_of_integers(function)
    kept = iteration.counts if iteration else frozenset[str]()
    named = dict(zip(full.names, full.values, strict=True))
    free = {name for name in full.names if may_be_negative(function, name)}
    keeps_order = solves(function) and not may_be_wide(function)
    return [
        lambda: extents(point, blocks(function), draws("extents"), keeps_order=keeps_order),
        lambda: plain(point, words(function, named), parameters, kept, free, step=step),
        lambda: values(point, draws("values"), is_scaled=iteration is None),
        lambda: less_special(point),
        lambda: learned(point),
        lambda: both_signs(function, point),
        lambda: other_lengths(function, point),
        lambda: documented(function, point, draws("documented")),
        lambda: ties(point, draws("ties")),
        lambda: optional(checkable, point),
        lambda: _asymmetric(checkable, case, point),
        lambda: zeros(point, draws("zeros")),
        lambda: whole(point, draws("whole")),
        lambda: degenerate(point),
        lambda: repeated(function, point),
        lambda: segments(point),
        lambda: regrouped(function, point),
        lambda: masks(point),
        lambda: beside_options(
            full, plain(full, {}, parameters, kept, step=step), draws("beside options")
        ),
        lambda: ignored(function, full),
    ]


def _beside_values(
    checkable: Checkable, case: ResolvedCase, point: Point, branches: Branches
) -> list[Family]:
    """Families for a forward that does not iterate until its values are good enough."""
    function, parameters = checkable.obj, checkable.parameters()
    full, draws = with_defaults(point, parameters), partial(generator, case.seed)
    options = partial(plain, full, {}, parameters, step=step_of_integers(function))
    return [
        lambda: near(point, thresholds(function), draws("near")),
        lambda: beside_limits(full, options(), branches, draws("beside limits")),
        lambda: single(point, draws("single")),
    ]


def _asymmetric(checkable: Checkable, case: ResolvedCase, point: Point) -> Iterator[Variant]:
    if not needs_symmetry(checkable.obj):
        exact = exact_gradients(checkable, point, case.seed)
        # A gradient of symmetric matrices is right only where they are symmetric.
        for at in read_as_symmetric(checkable, point, case.seed):
            exact.pop(at, None)
        yield from asymmetric(point, exact, generator(case.seed, "asymmetric"))

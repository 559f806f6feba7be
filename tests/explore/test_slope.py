"""Slopes by evaluations, where forward has no exact derivative."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.explore.slope import has_other_slope, has_slopes, is_smooth
from gradtool.verify.randomness import generator, signed
from tests.adapters.case_functions import at, leaf


def in_order(x):
    return x.new_tensor(np.sort(x.detach().numpy()))


@pytest.mark.parametrize(("factor", "is_wrong"), [(1.0, False), (1.5, True)])
def test_entries_that_change_places_on_a_long_step_are_no_mistake(
    factor: float, is_wrong: bool
) -> None:
    values = np.sort(generator(2, "many").uniform(1.0, 2.0, 100))
    function = at(in_order, leaf(*values))
    weights = signed(generator(2, "weights"), 100)
    assert has_other_slope(function, [weights], [factor * weights], 0, 0.0) is is_wrong


NOWHERE = np.full(1, np.nan)


@pytest.mark.parametrize("slope", [0.0, -3e-3, 1e-3])
def test_curvature_may_exceed_a_small_slope(slope: float) -> None:
    function = at(lambda x: slope * x + 30 * x**2, leaf(0.0))
    assert is_smooth(function, [np.ones(1)], [NOWHERE], 0)


def test_an_edge_has_slopes_and_is_not_smooth() -> None:
    function = at(lambda x: x.abs() + 30 * x**2, leaf(0.0))
    assert has_slopes(function, [np.ones(1)], [NOWHERE], 0)
    assert not is_smooth(function, [np.ones(1)], [NOWHERE], 0)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_root_has_no_slope_where_one_side_is_flat(side: float) -> None:
    function = at(lambda x: (side * x).clamp(min=0).sqrt(), leaf(0.0))
    assert not has_slopes(function, [np.ones(1)], [NOWHERE], 0)

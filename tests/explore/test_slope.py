"""Slopes by evaluations, where forward has no exact derivative."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.explore.slope import has_other_slope
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

"""Derivatives of derivatives pass the engine's own gate, in whatever mode each is taken.

The gradients and the tangents of each primitive are functions like any other: they have a
jvp (forward over reverse, forward over forward), a vjp (reverse over both), and are batched.
"""

from __future__ import annotations

import pytest

from tests.engine.ops.case import OpCase
from tests.engine.ops.own_gate.asking import BATCHED, FIRST, FORWARD, codes_for, objections
from tests.engine.ops.own_gate.maps import gradients_of, outputs_of, tangents_of
from tests.engine.ops.own_gate.pool import cover, parameters

RULES = (*FIRST, *FORWARD, *BATCHED)
SMOOTH = parameters(
    (family, case) for family, case in cover() if gradients_of(outputs_of(case)) is not None
)


@pytest.mark.slow
@pytest.mark.parametrize("case", SMOOTH)
def test_gradients_are_differentiated_and_batched(case: OpCase) -> None:
    gradients = gradients_of(outputs_of(case))
    assert gradients is not None
    assert not objections(gradients.subject(), codes_for(case, RULES))


@pytest.mark.slow
@pytest.mark.parametrize("case", SMOOTH)
def test_tangents_are_differentiated_and_batched(case: OpCase) -> None:
    tangents = tangents_of(outputs_of(case))
    assert not objections(tangents.subject(), codes_for(case, RULES))

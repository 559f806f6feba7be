"""Derivatives of derivatives pass the engine's own gate, in whatever mode each is taken.

The gradients and the tangents of each primitive are functions like any other: they have a
jvp (forward over reverse, forward over forward), a vjp (reverse over both), and are batched.
"""

from __future__ import annotations

import pytest

from tests.engine.ops.cases.case import OpCase
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
    codes = codes_for(case, RULES)
    if case.name.endswith("in place"):
        # As in PyTorch, tangents of a batch cannot be written over the tangent of one example.
        codes = tuple([code for code in codes if code != "GT401"])
    assert not objections(tangents.subject(), codes)

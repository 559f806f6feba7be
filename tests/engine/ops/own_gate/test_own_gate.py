"""The engine passes its own gate: the checker finds nothing wrong with any operation.

First and second derivatives, forward mode, batches of inputs and of cotangents. Unlike the
comparison with PyTorch this needs no PyTorch: it holds the table to its own forward
computations. Cases whose points are chosen because a derivative jumps there are left to the
comparison.
"""

from __future__ import annotations

import pytest

from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.own_gate.asking import codes_for, objections
from tests.engine.ops.own_gate.maps import outputs_of
from tests.engine.ops.own_gate.pool import one_of_each, parameters


@pytest.mark.slow
@pytest.mark.parametrize("case", parameters(one_of_each()))
def test_finds_nothing_wrong(case: OpCase) -> None:
    assert not objections(outputs_of(case).subject(), codes_for(case))

"""Every primitive passes the engine's own gate in every floating and complex dtype it claims.

In half precision a difference quotient can only say that it cannot tell. There the results
are held to those of double precision at the same point instead.
"""

from __future__ import annotations

import pytest

from gradtool.engine import _dtypes
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.own_gate.asking import codes_for, objections
from tests.engine.ops.own_gate.halves import apart
from tests.engine.ops.own_gate.maps import outputs_of
from tests.engine.ops.own_gate.pool import claiming, parameters

REAL_ALONE = ("select_scatter", "silu", "slice_scatter")
"""Names of cases that PyTorch does not differentiate on complex numbers, nor does the engine."""

WIDE = [
    pytest.param(*each.values, dtype.name, id=f"{dtype.name}, {each.id}")
    for dtype in (_dtypes.float32, _dtypes.complex64, _dtypes.complex128)
    for each in parameters(claiming(dtype))
    if not (
        dtype.is_complex and each.id is not None and each.id.split(": ")[1].startswith(REAL_ALONE)
    )
]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "dtype"), WIDE)
def test_finds_nothing_wrong(case: OpCase, dtype: str) -> None:
    assert not objections(outputs_of(case, dtype).subject(), codes_for(case))


@pytest.mark.parametrize("case", parameters(claiming(_dtypes.float16)))
def test_halves_are_what_doubles_round_to(case: OpCase) -> None:
    assert not apart(case)

"""What PyTorch's derivatives say of elements that a function of matrices does not look at.

The difference quotient says nothing is to be had there, so these cases are not at gradtool's gate.
"""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine
from tests.engine.ops.cases.case import OpCase, over
from tests.engine.ops.cases.matrix import TOLERANCE, apart, regular
from tests.engine.ops.compare import check
from tests.engine.ops.transforms import check_forward

pytestmark = pytest.mark.torch

WHOLE = [(regular(3, 3),), (regular(2, 3, 3, dtype="complex128"),)]


def shifted(t: Any, x: Any) -> Any:
    """Not Hermitian, with a positive definite lower and upper triangle."""
    return x * 0.3 + 4 * t.eye(x.shape[-1], dtype=x.dtype)


CASES = [
    *over("cholesky", lambda t, x: (
        t.linalg.cholesky(shifted(t, x)), t.linalg.cholesky(shifted(t, x), upper=True),
    ), WHOLE, tolerance=TOLERANCE),
    *over("cholesky_solve", lambda t, x: (
        t.cholesky_solve(x, x), t.cholesky_solve(x, x, upper=True),
    ), WHOLE, tolerance=TOLERANCE),
    *over("cholesky_inverse", lambda t, x: (
        t.cholesky_inverse(x), t.cholesky_inverse(x, upper=True),
    ), WHOLE[:1], tolerance=TOLERANCE, not_pushed="PyTorch's forward mode is not the derivative"),
    *over("eigvalsh", lambda t, x: (t.linalg.eigvalsh(x), t.linalg.eigvalsh(x, "U")), [
        (apart(3, 3),), (apart(2, 3, 3, dtype="complex128"),),
    ], tolerance=TOLERANCE),
    *over("eigh", lambda t, x: t.linalg.eigh(x).eigenvectors.abs(), [
        (apart(3, 3),), (apart(2, 3, 3, dtype="complex128"),),
    ], tolerance=TOLERANCE),
    *over("pinv", lambda t, x: t.linalg.pinv(x, hermitian=True), WHOLE, tolerance=TOLERANCE),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_derivatives_are_those_of_torch(case: OpCase, torch: Any) -> None:
    check(case, engine, torch)
    if not case.not_pushed:
        check_forward(case, engine, torch)

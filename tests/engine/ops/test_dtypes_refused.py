"""Where PyTorch raises for a dtype, the engine does not compute on silently.

Every case of every operation, with what is floating or complex in it brought to each dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine
from tests.engine.ops.case import OpCase
from tests.engine.ops.families import FAMILIES

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip

NO_COMPLEX_HALF = "PyTorch's complex32 has next to no operations, the engine has complex64 instead"
TAKEN: dict[tuple[str, str], str] = {
    ("1j pow", "float16"): NO_COMPLEX_HALF,
    ("pow 2j", "float16"): NO_COMPLEX_HALF,
    ("real and imaginary numbers", "float16"): NO_COMPLEX_HALF,
    ("real to an imaginary power", "float16"): NO_COMPLEX_HALF,
    ("index_add", "uint8"): "PyTorch casts a negative fraction to bytes in every other operation",
}
"""(case, dtype) that PyTorch refuses and the engine does not -> why."""


def raises(t: Any, case: OpCase, arrays: list[Any]) -> bool:
    """Whether this side refuses the call."""
    try:
        with t.no_grad():
            case.call(t, *[t.tensor(array) for array in arrays])
    except (RuntimeError, TypeError, ValueError, IndexError):
        return True
    return False


def brought_to(dtype: str, case: OpCase) -> list[Any] | None:
    """The case's arguments, floating and complex ones in a dtype; None if it has no such."""
    rng = case.generator()
    drawn = [np.asarray(arg.draw(rng)) for arg in case.args]
    if not any(array.dtype.kind in "fc" for array in drawn):
        return None
    with np.errstate(all="ignore"):
        return [array.astype(dtype) if array.dtype.kind in "fc" else array for array in drawn]


def unrefused(torch: Any, family: str) -> set[tuple[str, str]]:
    """What PyTorch refuses and the engine does not."""
    found = set()
    for case in FAMILIES[family]:
        for dtype in DTYPES:
            arrays = brought_to(dtype, case)
            if arrays is None or not raises(torch, case, arrays):
                continue
            if not raises(engine, case, arrays):
                found.add((case.name, dtype))
    return found


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")  # Both sides warn of discarded parts and of NaN.
@pytest.mark.parametrize("family", FAMILIES)
def test_refuses_the_dtypes_that_torch_refuses(family: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    names = {case.name for case in FAMILIES[family]}
    assert unrefused(torch, family) == {each for each in TAKEN if each[0] in names}

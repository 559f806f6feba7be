"""Every operation takes and refuses the dtypes that PyTorch's does, and gives the same ones."""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.dtypes.dtype_sweep import deviations

NO_COMPLEX_HALF = "PyTorch's complex32 has next to no operations, the engine does not have it"
WRAPPED = "PyTorch wraps a negative number into a byte, the engine refuses it"

REASONS: dict[tuple[str, str], str] = {
    ("1j pow", "float16"): NO_COMPLEX_HALF,
    ("pow 2j", "float16"): NO_COMPLEX_HALF,
    ("real and imaginary numbers", "float16"): NO_COMPLEX_HALF,
    ("real to an imaginary power", "float16"): NO_COMPLEX_HALF,
    ("complex of infinities", "float16"): NO_COMPLEX_HALF,
    ("into complex", "float16"): NO_COMPLEX_HALF,
    **{(name, "uint8"): WRAPPED for name in (
        "scatter of a value", "masked_fill", "index_fill in place", "hardtanh",
    )},
    ("index_add", "uint8"): "PyTorch casts a negative fraction to bytes in every other operation",
    ("x[mask] = number", "uint8*"): "PyTorch takes masks of bytes, but not where it fills them",
    ("index_put of a mask", "uint8*"): "PyTorch takes masks of bytes, but not where it fills them",
    ("searchsorted of a number", "bool"): "PyTorch looks for a number among truth values",
}  # fmt: skip
"""(case, dtype) -> why the engine does otherwise; a star is for all tensors, masks included."""


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")  # Both sides warn of discarded parts and of NaN.
@pytest.mark.parametrize("family", FAMILIES)
def test_dtypes_are_taken_refused_and_given_as_by_torch(family: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    found = {each[:2]: each[2] for each in deviations(family, engine, torch)}
    unexplained = {key: what for key, what in found.items() if key not in REASONS}
    assert unexplained == {}
    names = {case.name for case in FAMILIES[family]}
    assert found.keys() == {key for key in REASONS if key[0] in names}


def dtypes_of_sums(torch: Any) -> list[Any]:
    x = torch.ones(2, 2, dtype=torch.int32)
    return [
        str(getattr(torch, name)(x, 0, dtype=getattr(torch, dtype)).dtype)
        for name in ("sum", "prod", "cumsum", "cumprod", "nansum")
        for dtype in ("int16", "uint8", "float32")
    ]


def test_sums_are_of_the_dtype_that_is_asked_for(torch: Any) -> None:
    assert dtypes_of_sums(torch) == ["torch.int16", "torch.uint8", "torch.float32"] * 5


def test_a_number_of_another_dtype_is_written_by_masks_alone(torch: Any) -> None:
    number = torch.tensor(2.0, dtype=torch.float64)
    x = torch.zeros(3)
    x[torch.tensor([True, False, True])] = number
    assert x.tolist() == [2.0, 0.0, 2.0]
    for key in ([0], torch.tensor([0]), (torch.tensor([0]),)):
        with pytest.raises(RuntimeError, match="source and destination dtypes match"):
            x[key] = number


def test_one_element_without_dimensions_is_picked_by_truth(torch: Any) -> None:
    x = torch.zeros(())
    x[False] = 1.0
    assert x.item() == 0.0
    x[True] = torch.tensor(2.0)
    assert x.item() == 2.0

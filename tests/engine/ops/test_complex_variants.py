"""Every case of every operation, with complex numbers for real ones, where PyTorch has that.

Value, two derivatives, forward mode and vmap.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine
from tests.engine.ops.cases.case import Arg, OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.compare import Run, check, random_like
from tests.engine.ops.transforms import check_batch, check_forward

pytestmark = pytest.mark.torch

OWN = {"complex", "complex parts", "matrices"}
"""Families whose cases are complex where they are meant to be."""

UNLIKE = {
    "composed": "its logarithm is taken near zero, where rounding decides",
    "median of none": "PyTorch has a median of no complex numbers, and of no others",
    "silu in place": "PyTorch has no gradient of silu for complex numbers but in place",
}
"""Name of a case -> why PyTorch is not followed."""


def variant(case: OpCase) -> OpCase:
    """The case with complex numbers for its real ones."""
    return dataclasses.replace(case, args=tuple(complexified(arg) for arg in case.args))


def complexified(arg: Arg) -> Arg:
    def draw(rng: np.random.Generator) -> Any:
        array = np.asarray(arg.draw(rng))
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            return array
        return array + 1j * rng.standard_normal(array.shape)

    return Arg(f"complex {arg.text}", draw)


VARIANTS = [
    pytest.param(variant(case), id=f"{family}: {case.id}")
    for family, cases in FAMILIES.items()
    if family not in OWN
    for case in cases
    if case.name not in UNLIKE
    if any(arg.draw(case.generator()).dtype.kind == "f" for arg in case.args)
]


def refused(torch: Any, case: OpCase) -> bool:
    """Whether PyTorch has no such operation, or no gradient of it, on complex numbers."""
    rng = case.generator()
    try:
        run = Run(torch, case, [arg.draw(rng) for arg in case.args])
        if run.roots:
            run.first_order([random_like(each, rng) for each in run.roots])
    except (RuntimeError, TypeError, ValueError, IndexError):
        return True
    return False


@pytest.mark.filterwarnings("ignore")  # PyTorch's, where it discards imaginary parts
@pytest.mark.parametrize("case", VARIANTS)
def test_agrees_with_torch_on_complex_numbers(case: OpCase) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    if refused(torch, case):
        return
    check(case, engine, torch)
    if not case.not_pushed:
        check_forward(case, engine, torch)
    if case.args and not case.not_batched:
        check_batch(case, engine, torch)

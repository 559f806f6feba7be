"""No primitive goes past the gate, and none claims a dtype that it does not work on."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine
from gradtool.engine import _dtypes
from gradtool.engine._ops.core.primitive import PRIMITIVES, Primitive
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.own_gate.maps import cast
from tests.engine.ops.own_gate.pool import cover, one_of_each
from tests.engine.ops.own_gate.recording import attempted, runs_of

ONE_FOR_EACH_COUNT = {"cat", "stack", "index", "index_backward", "index_put"}
"""Names of primitives that are made one for each number of tensors."""

NOT_ASKED = {
    "addcmul": "runs below all levels only; tests against PyTorch differentiate it twice",
    **dict.fromkeys(("acosh_", "asinh_", "atanh_"), "refuses to be differentiated, as PyTorch's"),
    **dict.fromkeys(
        ("_unique", "_unique2", "unique_consecutive", "unique_dim"), "refuse too, as PyTorch's do"
    ),
    "copy": "writes over what requires a gradient, which tests of in-place changes compare",
    "around_view": "the gradient of a write to a view, which tests of in-place changes compare",
    "constant_over": "records that a constant was written, at the ground where no level sees it",
    "as_strided_scatter": "PyTorch leaves the wrong part of the gradient",
    "constant_of": "records that numbers were drawn, at the ground too",
    "heaviside": "refuses to be differentiated, as PyTorch's does",
    "identity": "refuses too, after an in-place change that lost the sign",
    "pin_memory": "needs a GPU",
    "to_copy": "one of the three moves to another device",
}
"""Name of a primitive with a derivative -> why no case of the gate runs it."""


def every_primitive() -> list[Primitive]:
    for module in pkgutil.walk_packages(engine.__path__, "gradtool.engine."):
        importlib.import_module(module.name)
    return [each for each in PRIMITIVES if each.compute.__module__.startswith("gradtool")]


def key(primitive: Primitive) -> Any:
    return primitive.name if primitive.name in ONE_FOR_EACH_COUNT else primitive


def test_every_primitive_with_a_derivative_is_at_the_gate() -> None:
    asked = {
        key(primitive)
        for _, case in one_of_each()
        for runs in runs_of(case)
        for primitive, _ in runs
    }
    missing = [each for each in every_primitive() if each.vjps and key(each) not in asked]
    assert {each.name for each in missing} <= NOT_ASKED.keys(), missing


def test_a_case_of_the_cover_runs_each_forward_primitive() -> None:
    forward = [{key(primitive) for primitive, _ in runs_of(case)[0]} for _, case in cover()]
    one_by_one = [
        {key(primitive) for primitive, _ in runs_of(case)[0]} for _, case in one_of_each()
    ]
    differentiable = {each for each in set().union(*one_by_one) if getattr(each, "vjps", True)}
    assert differentiable <= set().union(*forward)


@pytest.mark.filterwarnings("ignore")  # of casts, and of indices of strange dtypes
def test_primitives_work_on_the_dtypes_they_claim_and_on_no_others() -> None:
    worked: dict[str, set[_dtypes.dtype]] = defaultdict(set)
    for _, case in one_of_each():
        for arrays in in_all_dtypes(case):
            for primitive, dtype in attempted(case, arrays):
                if dtype in _dtypes.ALL:  # bfloat16 works wherever float32 does
                    worked[primitive.name].add(dtype)
    claimed = declared_dtypes()
    unlike = {
        name: (sorted_names(claimed[name] - dtypes), sorted_names(dtypes - claimed[name]))
        for name, dtypes in worked.items()
        if dtypes != claimed[name]
    }
    assert unlike == {}


def declared_dtypes() -> dict[str, set[_dtypes.dtype]]:
    """The dtypes that the primitives of each name declare between them."""
    declared: dict[str, set[_dtypes.dtype]] = defaultdict(set)
    for primitive in PRIMITIVES:
        declared[primitive.name] |= primitive.dtypes
    return declared


def sorted_names(dtypes: Any) -> list[str]:
    return sorted(each.name for each in dtypes)


def in_all_dtypes(case: OpCase) -> Iterator[list[Any]]:
    """The arguments with their floating elements, and with all their elements, in each dtype."""
    rng = case.generator()
    arrays = [np.asarray(arg.draw(rng)) for arg in case.args]
    for dtype in _dtypes.ALL:
        yield [in_dtype(each, dtype) if each.dtype.kind in "fc" else each for each in arrays]
        if any(each.dtype.kind in "iub" for each in arrays):
            yield [in_dtype(each, dtype) for each in arrays]


def in_dtype(array: Any, dtype: _dtypes.dtype) -> Any:
    """The elements as nearly as this dtype has them."""
    if dtype.is_differentiable:
        return cast(array.astype("float64") if array.dtype.kind in "iub" else array, dtype.name)
    if dtype is _dtypes.bool_:
        return array.real > 0
    return np.abs(np.round(array.real * 2)).astype(dtype.name)

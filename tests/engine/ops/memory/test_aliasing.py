"""Views share memory, everything else does not: for each operation as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.compare import flatten

CASES = [
    pytest.param(case, id=f"{family}: {case.id}")
    for family in ("creation", "indexing", "joining", "linalg", "shape", "sorting")
    for case in FAMILIES[family]
    if case.args
]


def aliases(t: Any, case: OpCase, arrays: list[Any]) -> list[tuple[bool, bool]]:
    """For each output with elements: whether it shares memory with an input, as a view of it."""
    inputs = [t.tensor(array) for array in arrays]
    outputs = [each for each in flatten(case.call(t, *inputs)) if isinstance(each, t.Tensor)]
    shares = [
        any(np.shares_memory(output.detach().numpy(), each.numpy()) for each in inputs)
        for output in outputs
    ]
    return [
        (each, each and output._is_view())
        for output, each in zip(outputs, shares, strict=True)
        if output.numel()
    ]


@pytest.mark.torch
@pytest.mark.parametrize("case", CASES)
def test_shares_memory_where_torch_does(case: OpCase) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    rng = case.generator()
    arrays = [arg.draw(rng) for arg in case.args]
    assert aliases(engine, case, arrays) == aliases(torch, case, arrays)


def test_a_view_writes_to_its_base() -> None:
    x = engine.zeros(3, 3)
    x.diagonal().fill_(1)
    x[0, 1:].fill_(2)
    x.t()[0, 2] = 5
    x.unfold(1, 2, 1)[1, 0, 0] = 7
    assert x.tolist() == [[1, 2, 2], [7, 1, 0], [5, 0, 1]]


def test_a_view_counts_changes_of_its_base() -> None:
    x = engine.zeros(4)
    view = x.view(2, 2)[0].unsqueeze(0)
    x.add_(1)
    assert view._version == 1
    assert view._base is x


def test_one_element_is_a_view_too() -> None:
    x = engine.zeros(2)
    x[1].fill_(3)
    assert x.tolist() == [0, 3]


def test_an_expanded_tensor_takes_no_memory_and_no_write_as_a_whole() -> None:
    x = engine.zeros(1, 3).expand(1000, 3)
    assert x.stride() == (0, 1)
    with pytest.raises(RuntimeError, match="single memory location"):
        x.add_(1)
    x[7].add_(1)
    assert x[3].tolist() == [1, 1, 1]


def test_a_clone_keeps_the_order_in_memory_unless_that_has_overlaps() -> None:
    x = engine.zeros(2, 3)
    assert x.t().clone().stride() == (1, 3)
    assert x[0].expand(4, 3).clone().stride() == (3, 1)
    assert x.t().contiguous().is_contiguous()


@pytest.mark.parametrize("key", [0, slice(1, None), ..., slice(None, 2)])
def test_a_part_may_be_written_over_itself(key: Any) -> None:
    x = engine.arange(9.0).reshape(3, 3)
    doubled = (2 * x[key]).tolist()
    x[key] *= 2
    assert x[key].tolist() == doubled


@pytest.mark.parametrize("key", [slice(None, 2), [0, 1]])
def test_a_part_may_not_be_written_over_one_that_it_overlaps(key: Any) -> None:
    x = engine.arange(9.0).reshape(3, 3)
    with pytest.raises(RuntimeError, match="single memory location"):
        x[key] = x[1:]


@pytest.mark.parametrize("name", ["add", "sin", "clamp", "eq"])
def test_an_expanded_out_is_refused_even_if_it_is_to_be_resized(name: str) -> None:
    x, out = engine.tensor(0.5), engine.zeros(()).expand(2, 3)
    others = {"add": (x,), "sin": (), "clamp": (0.0, 1.0), "eq": (x,)}[name]
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        getattr(engine, name)(x, *others, out=out)


def test_the_larger_of_two_tensors_may_be_written_over_one() -> None:
    x = engine.ones(3)
    assert engine.max(x, 2 * x, out=x) is x
    assert x.tolist() == [2.0, 2.0, 2.0]


def test_a_bound_without_dimensions_is_a_number_beside_one() -> None:
    x = engine.tensor([-1.0, 0.5, 3.0])
    assert x.clamp(0.0, engine.tensor(1.0)).tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(TypeError, match="clamp"):
        x.clamp(engine.tensor([0.0]), 1.0)

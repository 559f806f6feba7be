"""Shapes stay shapes through slices, sums and multiples, as PyTorch's do."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import gradtool.engine as torch
from gradtool.engine import Size

EXPRESSIONS = [
    "Size([3, 4, 5])[1:]",
    "Size([3, 4, 5])[::-1]",
    "Size([3, 4, 5])[-1]",
    "Size([3, 4]) + (2,)",
    "(2,) + Size([3, 4])",
    "Size([3, 4]) + Size([1])",
    "Size([3, 4]) * 2",
    "2 * Size([3, 4])",
    "Size([3, 4, 5]).numel()",
    "Size().numel()",
    "Size()",
    "Size([torch.tensor(3)])",
    "Size([3, 4]) == (3, 4)",
    "torch.zeros(2, 3, 4).shape[1:].numel()",
    "torch.zeros(2, 3, 4).size()[:2]",
    "tuple(Size([3, 4]))",
    "Size([3, 4]) + [2]",
    "Size([3, 4]) + (2.5,)",
    "Size(['a'])",
    "Size([1, 2.0])",
]


def outcome(expression: str, library: Any) -> tuple[str, str]:
    """The class and text of the value of an expression, or of the exception that it raises."""
    try:
        value = eval(expression, {"torch": library, "Size": library.Size})
    except TypeError as error:
        return "TypeError", str(error)
    return type(value).__name__, repr(value)


@pytest.mark.torch
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_shapes_are_those_of_torch(expression: str) -> None:
    assert outcome(expression, torch) == outcome(expression, pytest.importorskip("torch"))


def test_a_slice_of_a_shape_has_a_number_of_elements() -> None:
    rest = torch.zeros(2, 3, 4).shape[1:]
    assert isinstance(rest, Size)
    assert rest.numel() == 12
    assert repr((2, *rest)) == "(2, 3, 4)"


def test_a_shape_is_copied_and_pickled_as_one() -> None:
    shape = Size([3, 4])
    for other in (copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
        assert type(other) is Size
        assert other == shape

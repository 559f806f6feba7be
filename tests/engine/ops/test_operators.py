"""Operators meet operands that are not tensors the way Python's own do."""

from __future__ import annotations

import numpy as np
import pytest

import gradtool.engine as t


class Reflecting:
    """Answers comparisons from the right."""

    def __gt__(self, other: object) -> str:
        return "reflected"


def test_equality_with_anything_is_decided() -> None:
    x = t.tensor([1.0])
    assert (x == None) is False  # noqa: E711 - the operator is what is tested
    assert (x != None) is True  # noqa: E711 - the same
    assert x not in [None, "x"]


def test_a_comparison_is_left_to_the_other_operand() -> None:
    assert (t.tensor([1.0]) < Reflecting()) == "reflected"


@pytest.mark.parametrize("number", [np.float64(2), np.int64(2), np.float32(2)])
def test_numbers_of_numpy_count_as_pythons(number) -> None:
    x = t.tensor([1.5], requires_grad=True)
    for out in (x * number, number * x, x / number, x**number):
        assert isinstance(out, t.Tensor)
        assert out.dtype is t.float32
        assert out.requires_grad


def test_a_number_divided_is_a_multiple_of_the_reciprocal() -> None:
    x = t.tensor([3.0], requires_grad=True)
    quotient = 10 / x
    assert quotient.item() == (x.reciprocal() * 10).item() != t.tensor([10.0]).div(x).item()
    assert quotient.grad_fn.name() == "MulBackward0"
    assert [each and each.name() for each, _ in quotient.grad_fn.next_functions] == [
        "ReciprocalBackward0",
        None,
    ]


@pytest.mark.parametrize("operation", [lambda x: 2**x, lambda x: 2 - x])
def test_a_number_on_the_left_has_no_edge(operation) -> None:
    x = t.tensor([3.0], requires_grad=True)
    assert len(operation(x).grad_fn.next_functions) == 1


def test_a_result_never_shares_memory_with_an_operand() -> None:
    x, mask = t.tensor([1, 2]), t.tensor([True, False])
    for out in (x.floor(), x.round(), x.trunc(), x * 1, x + 0, x.clamp(0, 9), x**1, x.cumsum(0)):
        out.zero_()
    mask.sign().zero_()
    mask.sgn().zero_()
    assert x.tolist() == [1, 2]
    assert mask.tolist() == [True, False]


def test_half_precision_is_added_up_in_single() -> None:
    ones = t.ones(10_000, dtype=t.float16)
    assert ones.sum().item() == 10_000
    assert ones.mean().item() == 1
    assert ones.cumsum(0)[-1].item() == 10_000
    assert ones.norm().item() == 100


def test_a_result_of_two_is_a_named_tuple() -> None:
    found = t.tensor([[1.0, 3.0, 2.0]]).max(1)
    assert found.values.tolist() == [3.0]
    assert found.indices.tolist() == [1]
    assert repr(found) == "torch.return_types.max(\nvalues=tensor([3.]),\nindices=tensor([1]))"

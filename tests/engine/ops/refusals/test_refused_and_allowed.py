"""Calls at the edge of what is allowed, on both engines."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_gradient_beside_a_complex_number_is_real(torch: Any) -> None:
    x = torch.tensor([2.0, 0.0], requires_grad=True)
    out = torch.where(x != 0, x, 1j)
    assert out.dtype == torch.complex64
    (grad,) = torch.autograd.grad(out.abs().sum(), x)
    assert grad.dtype == torch.float32
    assert grad.tolist() == [1.0, 0.0]
    with pytest.raises(RuntimeError, match="isFloatingType"):
        torch.where(x != 0, x, torch.ones(2) * 1j).abs().sum().backward()


def test_a_number_has_no_dimension_to_move_or_join_along(torch: Any) -> None:
    x = torch.tensor(2.0)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        x.roll(1, 0)
    with pytest.raises(RuntimeError, match="zero-dimensional tensor \\(at position 1\\)"):
        torch.cat([torch.ones(2), x], 3)


def test_what_has_no_elements_has_any_dimension_to_move_or_join_along(torch: Any) -> None:
    x = torch.zeros(0)
    assert x.roll(1, 3).shape == torch.cat([x, x], 5).shape == (0,)
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.cat([x, torch.zeros(0, 2)], 2)


def test_the_largest_lie_in_order(torch: Any) -> None:
    values, places = torch.arange(6.0).reshape(3, 2).topk(1, -1)
    assert values.is_contiguous()
    assert places.is_contiguous()


def test_parts_that_may_be_changed_alone(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        for part in (*x.unsafe_chunk(2), *x.unsafe_split(1)):
            assert part.requires_grad
            assert part._base is x
    conjugate = torch.ones(4, dtype=torch.complex64).conj()
    assert not any(part.is_conj() for part in conjugate.unsafe_chunk(2))


def test_a_refused_context_ends_the_one_around_it(torch: Any) -> None:
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors
    with allow():
        with pytest.raises(RuntimeError, match="cannot be nested"), allow():
            pass
        with allow():
            pass

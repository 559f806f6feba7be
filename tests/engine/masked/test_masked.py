"""Operators that see only the elements a mask selects."""

from __future__ import annotations

from typing import Any

import pytest

ROWS = [[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]
MASK = [[True, False, True], [False, False, False]]
WITHOUT_ANY = {
    "sum": 0.0, "prod": 1.0, "amax": float("-inf"), "amin": float("inf"), "norm": 0.0,
    "logsumexp": float("-inf"),
}  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_ANY)
def test_a_row_without_selected_elements_has_the_identity(torch: Any, name: str) -> None:
    args = (2.0,) if name == "norm" else ()
    found = getattr(torch.masked, name)(torch.tensor(ROWS), *args, dim=1, mask=torch.tensor(MASK))
    selected = torch.tensor([[1.0, 3.0]])
    whole = torch.linalg.vector_norm(selected) if name == "norm" else None
    expected = whole if whole is not None else getattr(torch, name)(selected, dim=1)
    assert found[0].item() == pytest.approx(expected.item())
    assert found[1].item() == WITHOUT_ANY[name]


def test_mean_and_variance_count_the_selected(torch: Any) -> None:
    x, mask = torch.tensor(ROWS, requires_grad=True), torch.tensor(MASK)
    mean = torch.masked.mean(x, dim=1, mask=mask)
    variance = torch.masked.var(x, dim=1, mask=mask)
    assert (mean[0].item(), variance[0].item()) == (2.0, 2.0)
    assert mean[1].isnan()
    assert variance[1].isnan()
    (gradient,) = torch.autograd.grad(mean[0], x)
    assert gradient.tolist() == [[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]


def test_softmax_is_zero_where_the_mask_is_false(torch: Any) -> None:
    found = torch.masked.softmax(torch.tensor(ROWS), 1, mask=torch.tensor(MASK))
    assert found[0, 1].item() == 0.0
    assert found[0].sum().item() == pytest.approx(1.0)


def test_integers_are_summed_as_int64_and_have_a_median(torch: Any) -> None:
    x = torch.tensor([[1, 2, 3]], dtype=torch.int8)
    assert torch.masked.sum(x).dtype == torch.int64
    assert torch.masked.median(x, mask=x > 1).item() == 2
    with pytest.raises(ValueError, match="no fully masked out rows"):
        torch.masked.median(x, mask=x > 5)
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        torch.masked.mean(x)


def test_a_mask_of_more_dimensions_is_refused(torch: Any) -> None:
    with pytest.raises(IndexError, match="mask dimensionality higher"):
        torch.masked.sum(torch.ones(3), mask=torch.ones(2, 3, dtype=torch.bool))

"""Values and gradients computed in the dtype of the result, whatever is counted on the way."""

from __future__ import annotations

from typing import Any

import pytest

REDUCED = (
    "x.amax(0)", "x.amin(0)", "x.amax()", "x.max()", "x.aminmax().max", "x.norm(float('inf'))",
    "x.mean()", "x.std()", "x.prod()", "x.median()", "x.max(0).values", "x.logsumexp(0)",
    "x.norm(0.5)", "x.norm(1)", "x.nanmean()", "x.nansum()", "x.cumsum(0)", "x.cumprod(0)",
    "x.softmax(0)", "x.var()", "x.sum()",
)  # fmt: skip


@pytest.mark.parametrize("text", REDUCED)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gradients_have_the_dtype_of_the_argument(torch: Any, text: str, dtype: str) -> None:
    leaf = torch.tensor([1.0, 2.0, 2.0], dtype=getattr(torch, dtype), requires_grad=True)
    x = leaf * 1
    (found,) = torch.autograd.grad(eval(text, {"x": x}).sum(), x)
    assert found.dtype is leaf.dtype


def test_multiples_of_integers_are_taken_in_the_dtype_of_the_sum(torch: Any) -> None:
    large = torch.tensor([2**30], dtype=torch.int32)
    x = torch.tensor([0.0])
    assert torch.sub(x, large, alpha=2).tolist() == [-(2.0**31)]
    assert torch.add(x, large, alpha=2).tolist() == [2.0**31]

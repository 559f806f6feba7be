"""Results in a dual level: what they are views of, and tangents that are theirs alone."""

from __future__ import annotations

import math
from typing import Any

import pytest


def test_views_of_a_result_are_views_of_the_dual_tensor(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(2, 2), torch.ones(2, 2))
        result = dual * 1
        for view in (result[0], result.t(), result.expand(3, 2, 2)):
            assert view._base is result
        assert result._base is None


def test_a_tangent_that_passes_through_is_copied(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(2) * 1, torch.ones(2))
        results = (dual + torch.ones(2), dual - torch.ones(2), dual.clone())
        dual.fill_(0)
        assert all(fw.unpack_dual(each).tangent.tolist() == [1.0, 1.0] for each in results)


def test_nothing_deviates_by_a_tangent_of_zero(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(3), torch.tensor([1.0, 5.0, 3.0]))
        assert fw.unpack_dual(dual.std()).tangent.item() == 0
        dual = fw.make_dual(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1.0, 5.0, 3.0]))
        assert fw.unpack_dual(dual.std()).tangent.item() == pytest.approx(0.6547, abs=1e-4)


def test_a_missing_extreme_has_no_tangent_that_is_a_number(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(torch.tensor([1.0, math.nan]), torch.ones(2))
        for result in (dual.max(), dual.min(), dual.median()):
            assert math.isnan(fw.unpack_dual(result).tangent.item())


def test_a_refused_out_argument_has_the_values(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        out = torch.zeros(2) * 1
        dual = fw.make_dual(out, torch.ones(2))
        with pytest.raises(NotImplementedError, match="out= function"):
            torch.add(torch.ones(2), 1, out=dual)
        assert (out.tolist(), out._version) == ([2.0, 2.0], 1)


def test_the_primal_output_of_jvp_is_a_view(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True) * 1
    output, _ = torch.func.jvp(lambda x: x.mul_(2), (x,), (torch.ones(2),))
    assert output._is_view()
    assert output.grad_fn.name() == "AliasBackward0"
    assert type(x.grad_fn).__name__ == "CopySlices"


def test_hooks_on_saved_tensors_have_no_part_in_a_jvp(torch: Any) -> None:
    hooks = torch.autograd.graph.saved_tensors_hooks
    with hooks(lambda x: x * 2, lambda x: x):
        _, tangent = torch.func.jvp(lambda x: x.logsumexp(0), (torch.ones(2),), (torch.ones(2),))
    assert tangent.item() == pytest.approx(1.0)


def test_what_is_detached_of_a_tensor_of_inference_may_change(torch: Any) -> None:
    with torch.inference_mode():
        x = torch.ones(2) * 2
    detached = x.detach()
    detached.zero_()
    assert detached.is_inference()
    assert x.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        x.zero_()
    y = torch.ones(2)
    y.data = x
    assert y.is_inference()

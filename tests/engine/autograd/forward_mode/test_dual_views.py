"""Dual tensors and the memory they share: views, changes in place, layouts, custom Functions."""

from __future__ import annotations

from typing import Any

import pytest


def dual_of(torch: Any, *values: float) -> Any:
    primal = torch.tensor(values)
    return torch.autograd.forward_ad.make_dual(primal, torch.ones_like(primal))


def tangent_of(torch: Any, x: Any) -> Any:
    return torch.autograd.forward_ad.unpack_dual(x).tangent


def test_a_dual_tensor_is_a_view_that_leaves_its_primal_constant(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    primal, tangent = torch.tensor([1.0, 2.0]), torch.ones(2)
    with fw.dual_level() as level:
        assert level == fw._current_level == 0
        dual = fw.make_dual(primal, tangent)
        assert dual._base is primal
        unpacked = fw.unpack_dual(dual)
        assert unpacked.tangent is tangent
        assert unpacked.primal is not fw.unpack_dual(dual).primal
        dual *= 2
        unpacked.primal.mul_(3)
        assert fw.unpack_dual(primal).tangent is None
        assert (primal.tolist(), tangent.tolist()) == ([6.0, 12.0], [2.0, 2.0])
        assert primal._version == dual._version == 2
    assert fw._current_level == -1


def test_a_written_view_takes_its_base_along(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        base = torch.zeros(2, 2)
        view, other = base.t(), base.view(4)
        view.copy_(dual_of(torch, 1.0, 2.0))
        assert tangent_of(torch, base).tolist() == [[1.0, 1.0], [1.0, 1.0]]
        view *= 2
        other[0] = 0
        assert tangent_of(torch, base).tolist() == [[0.0, 2.0], [2.0, 2.0]]
        assert tangent_of(torch, view)._base is tangent_of(torch, base)


def test_a_written_part_gives_its_base_a_tangent_of_zeros(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        base = torch.zeros(3)
        part = base[1:]
        part[:1].add_(dual_of(torch, 4.0))
        assert tangent_of(torch, base).tolist() == [0.0, 1.0, 0.0]
        assert tangent_of(torch, part).tolist() == [1.0, 0.0]


def test_a_written_view_with_a_new_axis_gives_its_base_a_tangent(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        base = torch.zeros(2)
        row = base[None]
        row[:, 1:] = dual_of(torch, 4.0)
        assert tangent_of(torch, base).tolist() == [0.0, 1.0]


def test_a_view_is_written_after_its_base_was_changed_by_a_recorded_tangent(torch: Any) -> None:
    leaf = torch.tensor([1.0], requires_grad=True)
    with torch.autograd.forward_ad.dual_level():
        base = torch.autograd.forward_ad.make_dual(leaf, torch.ones(1)) * 1
        row = base[None]
        base.exp_()
        row.mul_(3)
        assert tangent_of(torch, base).allclose(3 * leaf.exp())


def test_a_dual_tensor_takes_another_shape_in_place_after_its_level_is_left(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        x = dual_of(torch, 1.0, 2.0)
    x.unsqueeze_(0)
    assert (x * 2).tolist() == [[2.0, 4.0]]
    x.mul_(3)
    assert x.t_().tolist() == [[3.0], [6.0]]


def test_a_written_base_gives_its_views_tangents(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        base = torch.zeros(2)
        view, apart = base[1:], base.detach()
        base += dual_of(torch, 1.0, 2.0)
        assert tangent_of(torch, view).tolist() == [1.0]
        assert tangent_of(torch, apart) is None


def test_a_tensor_detached_in_place_is_constant(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        x = dual_of(torch, 1.0).clone()
        assert x.detach_() is x
        assert tangent_of(torch, x) is None
        assert tangent_of(torch, x * 2) is None


def test_a_tangent_is_laid_out_as_its_primal(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    tangent = torch.ones(2, 3)
    with fw.dual_level():
        assert tangent_of(torch, fw.make_dual(torch.zeros(2, 3), tangent)) is tangent
        turned = tangent_of(torch, fw.make_dual(torch.zeros(3, 2).t(), tangent))
        assert turned.stride() == (1, 2)
        part = fw.make_dual(torch.zeros(5)[1:3].detach(), torch.ones(2))
        whole = part.as_strided((5,), (1,), 0)
        assert tangent_of(torch, whole).tolist() == [0.0, 1.0, 1.0, 0.0, 0.0]


def test_a_tangent_has_none_of_its_own(torch: Any) -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        dual = dual_of(torch, 1.0)
        with pytest.raises(RuntimeError, match="itself has a forward gradient at the same level"):
            fw.make_dual(torch.ones(1), dual)
        with pytest.raises(RuntimeError, match="already has a forward gradient at the same level"):
            fw.make_dual(dual, torch.ones(1))


def test_results_are_not_written_to_given_memory(torch: Any) -> None:
    with torch.autograd.forward_ad.dual_level():
        dual, constant = dual_of(torch, 1.0), torch.ones(1)
        for given, out in ((dual, torch.zeros(1)), (constant, dual)):
            with pytest.raises(NotImplementedError, match="because it is an out= function"):
                torch.add(given, constant, out=out)


def function(torch: Any, forward: Any, jvp: Any) -> Any:
    methods = {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    return type("Some", (torch.autograd.Function,), methods).apply


def in_place(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.mul_(2)


def constant(ctx: Any, x: Any) -> Any:
    y = x * 2
    ctx.mark_non_differentiable(y)
    return y


@pytest.mark.parametrize(
    ("forward", "jvp", "message"),
    [
        (lambda ctx, x: x[1:], lambda ctx, g: g[1:].clone(), "the jvp is not returning a view"),
        (lambda ctx, x: x, lambda ctx, g: g, "or an input as-is"),
        (lambda ctx, x: x[1:], lambda ctx, g: g.clone()[1:], "a view of the given grad input"),
        (in_place, lambda ctx, g: g * 2, "must modify the corresponding gradient inplace"),
        (in_place, lambda ctx, g: g.mul_(2)[:], "and return it as-is"),
        (constant, lambda ctx, g: g, "output is not a differentiable Tensor"),
        (lambda ctx, x: x * 2, lambda ctx, g: (g, g), r"expected 1 but got 2"),
        (lambda ctx, x: x * 2, lambda ctx, g: 3.0, "expected Variable or None"),
    ],
)
def test_a_tangent_does_as_its_output_does(
    torch: Any, forward: Any, jvp: Any, message: str
) -> None:
    with torch.autograd.forward_ad.dual_level():
        x = dual_of(torch, 1.0, 2.0)
        with pytest.raises(RuntimeError, match=message):
            function(torch, forward, jvp)(x)


def test_a_view_of_another_base_is_no_view_of_the_tangent(torch: Any) -> None:
    apply = function(torch, lambda ctx, x: x[1:], lambda ctx, g: g.clone()[1:])
    with torch.autograd.forward_ad.dual_level():
        x = dual_of(torch, 1.0, 2.0)[:]
        with pytest.raises(RuntimeError, match="a view of the same base"):
            apply(x)


def test_a_function_changes_primal_and_tangent_in_place(torch: Any) -> None:
    apply = function(torch, in_place, lambda ctx, g: g.mul_(2))
    with torch.autograd.forward_ad.dual_level():
        x = dual_of(torch, 1.0)
        tangent = tangent_of(torch, x)
        assert apply(x) is x
        assert tangent_of(torch, x) is tangent
        assert tangent.item() == 2.0


def test_a_batch_of_tangents_keeps_to_the_memory_of_its_primal(torch: Any) -> None:
    from importlib import import_module

    fw = torch.autograd.forward_ad
    vmap = import_module(f"{torch.__name__}._vmap_internals")._vmap
    primal, tangents = torch.zeros(5)[:4].detach(), torch.ones(3, 4)

    def jvp(tangent: Any) -> Any:
        with fw.dual_level():
            dual = fw.make_dual(primal, tangent)
            with pytest.raises(RuntimeError, match="can access memory outside of `tensor`"):
                dual.as_strided((5,), (1,), 0)
            return tangent_of(torch, dual * 2)

    assert vmap(jvp, 0, 0)(tangents).tolist() == [[2.0] * 4] * 3


def test_a_tangent_laid_out_anew_has_the_dtype_of_its_primal(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.float64)
    with torch.autograd.forward_ad.dual_level():
        for tangent, dtype in (
            (torch.ones(()).expand(2), torch.float64),
            (torch.ones(4)[::2], torch.float64),
            (torch.ones(2), torch.float32),
        ):
            dual = torch.autograd.forward_ad.make_dual(x, tangent)
            assert torch.autograd.forward_ad.unpack_dual(dual).tangent.dtype == dtype


def test_inference_mode_hides_tangents(torch: Any) -> None:
    fw, x = torch.autograd.forward_ad, torch.ones(2)
    with fw.dual_level():
        dual = fw.make_dual(x, x.clone())
        with torch.inference_mode():
            assert fw.unpack_dual(dual).tangent is None
            assert fw.unpack_dual(fw.make_dual(x, x.clone())).tangent is None
        assert fw.unpack_dual(dual).tangent is not None


def test_a_tangent_that_is_a_leaf_may_not_be_changed_in_place(torch: Any) -> None:
    fw, x = torch.autograd.forward_ad, torch.ones(2)
    with fw.dual_level():
        dual = fw.make_dual(x, torch.ones(2, requires_grad=True))
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            dual.sub_(1)


def test_changes_of_the_data_of_a_dual_tensor_are_not_counted(torch: Any) -> None:
    fw, x = torch.autograd.forward_ad, torch.ones(2)
    with fw.dual_level():
        dual = fw.make_dual(x, x.clone())
        dual.data.mul_(2)
        assert (x._version, dual._version) == (0, 0)
        dual.data = dual.data * 2
        assert dual.tolist() == [4.0, 4.0]
        assert x.tolist() == [2.0, 2.0]

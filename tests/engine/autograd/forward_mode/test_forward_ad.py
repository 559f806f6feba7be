"""Forward mode by hand: dual tensors, views, in-place changes, errors."""

from __future__ import annotations

import pytest


def double(torch, *values):
    return torch.tensor(values, dtype=torch.float64)


def test_tangent_through_operations(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(double(torch, 1.0, 2.0), double(torch, 1.0, 10.0))
        y = (x * x + x.sin()).sum()
        tangent = fw.unpack_dual(y).tangent
    slopes = 2 * double(torch, 1.0, 2.0) + double(torch, 1.0, 2.0).cos()
    expected = slopes[0].item() + 10 * slopes[1].item()
    assert tangent.item() == pytest.approx(expected, rel=1e-14)


def test_view_and_in_place(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(double(torch, 1.0, 2.0, 3.0), double(torch, 1.0, 1.0, 1.0)).clone()
        x[1:].mul_(5)
        assert fw.unpack_dual(x).tangent.tolist() == [1.0, 5.0, 5.0]
        assert fw.unpack_dual(x).primal.tolist() == [1.0, 10.0, 15.0]


def test_tangent_enters_a_constant(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(double(torch, 1.0, 2.0), double(torch, 3.0, 4.0))
        out = torch.zeros(2, dtype=torch.float64)
        out += x * 2
        assert fw.unpack_dual(out).tangent.tolist() == [6.0, 8.0]


@pytest.mark.parametrize("shape", [(), (1,), (1, 2), (3,)])
def test_a_function_gives_each_output_a_tangent_of_its_size(torch, shape):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, tangent):
            return tangent.new_ones(shape)

    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(double(torch, 1.0, 2.0), double(torch, 3.0, 4.0))
        with pytest.raises(RuntimeError, match="has a different size than that of the original"):
            Doubled.apply(x)


def test_forward_over_reverse(torch):
    fw = torch.autograd.forward_ad
    x = double(torch, 2.0).requires_grad_()
    with fw.dual_level():
        dual = fw.make_dual(x, double(torch, 1.0))
        y = (dual**3).sum()
        (g,) = torch.autograd.grad(fw.unpack_dual(y).tangent.sum(), x)
    assert g.item() == 12.0


def test_tangents_end_with_the_level(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(double(torch, 1.0), double(torch, 1.0))
    with fw.dual_level():
        assert fw.unpack_dual(double(torch, 1.0)).tangent is None
    del x


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, fw: fw.make_dual(t.ones(1), t.ones(1)), "no level exists"),
        (lambda t, fw: fw.exit_dual_level(), "level"),
    ],
)
def test_outside_a_level(torch, call, message):
    with pytest.raises(RuntimeError, match=message):
        call(torch, torch.autograd.forward_ad)


def test_mistakes_inside_a_level(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        with pytest.raises(RuntimeError, match=r"[Nn]ested"):
            fw.enter_dual_level()
        with pytest.raises(RuntimeError, match="size"):
            fw.make_dual(torch.ones(2), torch.ones(3))
        with pytest.raises(ValueError, match="floating"):
            fw.make_dual(torch.tensor([1]), torch.tensor([1]))


def test_tangents_are_hidden_where_none_are_computed(torch):
    fw = torch.autograd.forward_ad
    x, ones = torch.ones(2), torch.ones(2)
    with fw.dual_level():
        with fw._set_fwd_grad_enabled(False):
            dual = fw.make_dual(x, ones)
            assert fw.unpack_dual(dual).tangent is None
            assert fw.unpack_dual(fw.make_dual(dual, ones)).tangent is None
        assert fw.unpack_dual(dual).tangent.tolist() == [1, 1]


def test_a_primal_taken_out_of_the_graph_has_a_node_of_its_own(torch):
    forward_ad = torch.autograd.forward_ad
    x = torch.ones(2, requires_grad=True)
    with forward_ad.dual_level():
        primal = forward_ad.unpack_dual(forward_ad.make_dual(x, torch.ones(2)) * 2).primal
    assert primal.grad_fn.name() == "torch::autograd::Identity"
    assert torch.autograd.grad(primal.sum(), x)[0].tolist() == [2.0, 2.0]


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_a_real_tangent_of_a_complex_tensor_stays_real_when_that_is_changed(torch):
    ad = torch.autograd.forward_ad
    with ad.dual_level():
        x = ad.make_dual(torch.tensor(2.0 + 1j), torch.tensor(1.0))
        x.mul_(x * 1)
        tangent = ad.unpack_dual(x).tangent
    assert (tangent.dtype, float(tangent)) == (torch.float32, 4.0)

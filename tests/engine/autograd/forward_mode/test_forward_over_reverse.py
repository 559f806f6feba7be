"""Dual tensors in the graph: gradients that carry tangents, tangents that have gradients."""

from __future__ import annotations

import pytest


@pytest.fixture
def fw(torch):
    return torch.autograd.forward_ad


def double(torch, *values):
    return torch.tensor(values, dtype=torch.float64)


def dual(torch, fw, *, requires_grad=True):
    x = double(torch, 0.5, 2.0).requires_grad_(requires_grad)
    return x, fw.make_dual(x, double(torch, 1.0, 3.0))


def close(tensor, *values):
    assert tensor.tolist() == pytest.approx(list(values))


def test_a_gradient_carries_the_hessian_product(torch, fw):
    with fw.dual_level():
        _, d = dual(torch, fw)
        (g,) = torch.autograd.grad((d**3).sum(), d, create_graph=True)
        primal, tangent = fw.unpack_dual(g)
        close(primal, 0.75, 12.0)
        close(tangent, 3.0, 36.0)
        assert tangent.requires_grad


def test_a_tangent_has_a_gradient(torch, fw):
    with fw.dual_level():
        x, d = dual(torch, fw)
        y = d**3
        (g,) = torch.autograd.grad(fw.unpack_dual(y).tangent.sum(), x)
    close(g, 3.0, 36.0)


def test_a_tangent_has_a_gradient_by_what_was_computed_between(torch, fw):
    with fw.dual_level():
        _, d = dual(torch, fw)
        between = d * d
        (g,) = torch.autograd.grad(fw.unpack_dual(between.exp()).tangent.sum(), between)
        tangent = 2 * d * double(torch, 1.0, 3.0)
        close(g, *(between.exp() * tangent).detach().tolist())


def test_a_dual_tensor_is_no_leaf_where_its_primal_requires_a_gradient(torch, fw):
    with fw.dual_level():
        x, d = dual(torch, fw)
        assert (d.requires_grad, d.is_leaf) == (True, False)
        (d * 2).sum().backward()
        assert d.grad_fn is not None
    close(x.grad, 2.0, 2.0)


def test_a_dual_tensor_can_become_a_leaf(torch, fw):
    with fw.dual_level():
        x, d = dual(torch, fw, requires_grad=False)
        d.requires_grad_()
        (d**2).sum().backward()
        close(d.grad, 1.0, 4.0)
    assert not x.requires_grad


def test_other_leaves_are_reached_through_dual_tensors(torch, fw):
    w = double(torch, 3.0, 4.0).requires_grad_()
    with fw.dual_level():
        _, d = dual(torch, fw, requires_grad=False)
        y = (d * w).sin()
        assert y.requires_grad
        y.sum().backward()
    close(
        w.grad, *(w.detach() * double(torch, 0.5, 2.0)).cos().mul(double(torch, 0.5, 2.0)).tolist()
    )


@pytest.mark.parametrize("on_view", [False, True])
def test_an_in_place_change_is_recorded(torch, fw, on_view):
    with fw.dual_level():
        x, d = dual(torch, fw)
        y = d.clone()
        (y[:1] if on_view else y).mul_(d[:1] if on_view else d)
        primal, tangent = fw.unpack_dual(y)
        close(primal, 0.25, 2.0 if on_view else 4.0)
        close(tangent, 1.0, 3.0 if on_view else 12.0)
        (g,) = torch.autograd.grad(y.sum(), x)
    close(g, 1.0, 1.0 if on_view else 4.0)


def test_a_constant_takes_tangents_in_place(torch, fw):
    with fw.dual_level():
        _, d = dual(torch, fw, requires_grad=False)
        y = torch.zeros(2, dtype=torch.float64)
        y.add_(d)
        close(fw.unpack_dual(y).tangent, 1.0, 3.0)
        y.copy_(double(torch, 1.0, 1.0))
        tangent = fw.unpack_dual(y).tangent
        assert tangent is None or tangent.tolist() == [0.0, 0.0]


class _Cube:
    @staticmethod
    def of(torch):
        class Cube(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x**3
                ctx.save_for_backward(x, y)
                ctx.save_for_forward(x, y)
                return y

            @staticmethod
            def backward(ctx, grad):
                x, y = ctx.saved_tensors
                return grad * 3 * y / x

            @staticmethod
            def jvp(ctx, tangent):
                x, y = ctx.saved_tensors
                return tangent * 3 * y / x

        return Cube


def test_a_custom_function_in_both_modes(torch, fw):
    Cube = _Cube.of(torch)
    with fw.dual_level():
        x, d = dual(torch, fw)
        y = Cube.apply(d)
        primal, tangent = fw.unpack_dual(y)
        close(primal, 0.125, 8.0)
        close(tangent, 0.75, 36.0)
        (g,) = torch.autograd.grad(y.sum(), d, create_graph=True)
        close(fw.unpack_dual(g).tangent, 3.0, 36.0)
        (of_tangent,) = torch.autograd.grad(tangent.sum(), x)
    close(of_tangent, 3.0, 36.0)


def test_tangents_are_not_computed_where_they_are_disabled(torch, fw):
    with fw.dual_level():
        _, d = dual(torch, fw, requires_grad=False)
        with fw._set_fwd_grad_enabled(False):
            assert not fw._is_fwd_grad_enabled()
            assert fw.unpack_dual(d * 2).tangent is None
        assert fw.unpack_dual(d * 2).tangent is not None
        with torch.no_grad():
            assert fw.unpack_dual(d * 2).tangent is not None


def test_a_transform_computes_tangents_whatever_is_set_around_it(torch, fw):
    x, t = double(torch, 0.5), double(torch, 1.0)

    def square(x):
        with fw._set_fwd_grad_enabled(False):
            shift = x**2
        return x**2 - shift

    with fw._set_fwd_grad_enabled(False):
        close(torch.func.jvp(torch.sin, (x,), (t,))[1], 0.8775825618903728)
    close(torch.func.jvp(square, (x,), (t,))[1], 1.0)
    nested = torch.func.jvp(lambda x: torch.func.jvp(square, (x,), (t,))[1], (x,), (t,))[1]
    close(nested, 2.0)


def test_forward_of_a_custom_function_computes_no_tangents(torch, fw):
    seen = []

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(fw._is_fwd_grad_enabled())
            return x * x

    Square.apply(torch.ones(2))
    assert seen == [False]


@pytest.mark.parametrize("several", [False, True])
def test_hessian_by_forward_over_reverse(torch, several):
    F = torch.autograd.functional
    x, y = double(torch, 1.0, 2.0), double(torch, 3.0, 4.0)
    inputs = (x, y) if several else x
    function = (lambda x, y: (x**2 * y.exp()).sum()) if several else (lambda x: (x**3).sum())
    plain = F.hessian(function, inputs)
    fast = F.hessian(function, inputs, vectorize=True, outer_jacobian_strategy="forward-mode")
    for row, other in zip(plain, fast, strict=True):
        for a, b in zip(row, other, strict=True):
            assert (a - b).abs().max().item() < 1e-12


def test_a_dual_tensor_prints_as_its_primal_once_the_level_is_left(torch, fw):
    with fw.dual_level():
        _, d = dual(torch, fw, requires_grad=False)
        assert "tangent=" in repr(d)
    assert repr(d) == "tensor([0.5000, 2.0000], dtype=torch.float64)"

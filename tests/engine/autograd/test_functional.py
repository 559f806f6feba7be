"""torch.autograd.functional: products with Jacobians and Hessians, strictness, shapes."""

from __future__ import annotations

import pytest


def double(torch, *values):
    return torch.tensor(values, dtype=torch.float64)


def two(torch):
    return double(torch, 1.0, 2.0), double(torch, 3.0, 4.0)


def test_jacobian_shapes(torch):
    F = torch.autograd.functional
    x, y = two(torch)
    single = F.jacobian(lambda x: x * 2, x)
    assert single.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    pair = F.jacobian(lambda x, y: x * y, (x, y))
    assert [each.tolist() for each in pair] == [[[3.0, 0.0], [0.0, 4.0]], [[1.0, 0.0], [0.0, 2.0]]]
    nested = F.jacobian(lambda x, y: (x.sum(), y * y), (x, y))
    assert len(nested) == 2
    assert nested[0][1].tolist() == [0.0, 0.0]


def test_vjp_and_jvp(torch):
    F = torch.autograd.functional
    x, y = two(torch)
    value, (gx, gy) = F.vjp(lambda x, y: x * y, (x, y), double(torch, 1.0, 10.0))
    assert value.tolist() == [3.0, 8.0]
    assert (gx.tolist(), gy.tolist()) == ([3.0, 40.0], [1.0, 20.0])
    tangents = (double(torch, 1.0, 1.0), double(torch, 0.0, 1.0))
    _, pushed = F.jvp(lambda x, y: x * y, (x, y), tangents)
    assert pushed.tolist() == [3.0, 6.0]


def test_hessian_and_products(torch):
    F = torch.autograd.functional
    x, y = two(torch)

    def function(x, y):
        return (x**2 * y).sum()

    blocks = F.hessian(function, (x, y))
    assert blocks[0][0].tolist() == [[6.0, 0.0], [0.0, 8.0]]
    assert blocks[0][1].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    v = (double(torch, 1.0, 1.0), double(torch, 1.0, 0.0))
    for product in (F.hvp, F.vhp):
        value, (hx, hy) = product(function, (x, y), v)
        assert value.item() == 19.0
        assert hx.tolist() == [8.0, 8.0]
        assert hy.tolist() == [2.0, 4.0]


def test_create_graph(torch):
    F = torch.autograd.functional
    x = double(torch, 2.0).requires_grad_()
    jac = F.jacobian(lambda x: x**3, x, create_graph=True)
    jac.sum().backward()
    assert x.grad.item() == 12.0
    assert not F.jacobian(lambda x: x**3, x).requires_grad


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_vectorized(torch, strategy):
    F = torch.autograd.functional
    x, y = two(torch)
    function = lambda x, y: (x * y, x.sin())  # noqa: E731 - short
    plain = F.jacobian(function, (x, y))
    fast = F.jacobian(function, (x, y), vectorize=True, strategy=strategy)
    for row, other in zip(plain, fast, strict=True):
        for a, b in zip(row, other, strict=True):
            assert (a - b).abs().max().item() < 1e-14


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda F, t: F.vjp(lambda x: x * 2, t.ones(2)), RuntimeError, "v can only be None"),
        (lambda F, t: F.vjp(lambda x: x * 2, t.ones(2), t.ones(3)), RuntimeError, "invalid size"),
        (lambda F, t: F.jacobian(lambda x: 3, t.ones(2)), TypeError, "outputs"),
        (lambda F, t: F.jacobian(lambda x: x, 3), TypeError, "inputs"),
        (
            lambda F, t: F.jacobian(lambda x: t.ones(2), t.ones(2), strict=True),
            RuntimeError,
            "strict|require gradients",
        ),
        (lambda F, t: F.hessian(lambda x: x, t.ones(2)), RuntimeError, "single element"),
    ],
)
def test_mistakes(torch, call, error, message):
    with pytest.raises(error, match=message):
        call(torch.autograd.functional, torch)

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


STRICT = {
    "an output outside the graph": (
        lambda F, t, x: F.vjp(lambda x: t.ones(2), x, t.ones(2), strict=True),
        "Output 0 of the user-provided function does not require gradients.",
    ),
    "an unused input": (
        lambda F, t, x: F.vjp(lambda x, y: x, (x, x), t.ones(2), strict=True),
        "The output of the user-provided function is independent of input 1.",
    ),
    "a constant vjp": (
        lambda F, t, x: F.vjp(lambda x: x * 2, x, t.ones(2), strict=True, create_graph=True),
        "The jacobian of the user-provided function is independent of input 0. This is not allowed "
        "in strict mode when create_graph=True.",
    ),
    "an unused input of jvp": (
        lambda F, t, x: F.jvp(lambda x, y: x, (x, x), (x, x), strict=True),
        "The output of the user-provided function is independent of input 1.",
    ),
    "an unused input of jacobian": (
        lambda F, t, x: F.jacobian(lambda x, y: x, (x, x), strict=True),
        "Output 0 of the user-provided function is independent of input 1.",
    ),
    "a linear function's hessian": (
        lambda F, t, x: F.hessian(lambda x: x.sum(), x, strict=True),
        "While computing the hessian, found that the jacobian of the user-provided function with "
        "respect to input 0 is independent of the input.",
    ),
    "a linear function's vhp": (
        lambda F, t, x: F.vhp(lambda x: (3 * x).sum(), x, x, strict=True),
        "While computing the hessian, found that the jacobian of the user-provided function",
    ),
    "an unrelated input's vhp": (
        lambda F, t, x: F.vhp(lambda x, y: (x * x).sum(), (x, x), (x, x), strict=True),
        "The output of the user-provided function is independent of input 1.",
    ),
    "a product's hvp": (
        lambda F, t, x: F.hvp(lambda x: (x * x).sum(), x, x, strict=True, create_graph=True),
        "The hessian of the user-provided function is independent of input 0. This is not allowed "
        "in strict mode when create_graph=True.",
    ),
}


@pytest.mark.parametrize("case", STRICT)
def test_strict_refuses(torch, case):
    call, message = STRICT[case]
    with pytest.raises(RuntimeError) as raised:
        call(torch.autograd.functional, torch, torch.ones(2))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda F, t, x: F.vjp(lambda x: x, x), RuntimeError, "user-provided function returns a"),
        (lambda F, t, x: F.jvp(lambda x: x, x), RuntimeError, "if the input to the user-provided"),
        (lambda F, t, x: F.vjp(lambda x: x, x, (x, x)), RuntimeError, "should contain a single T"),
        (lambda F, t, x: F.jvp(lambda x, y: x, (x, x), x), RuntimeError, "should be 2 but got 1"),
        (
            lambda F, t, x: F.jvp(lambda x, y: x, (x, x), (x, t.ones(3))),
            RuntimeError,
            r"Entry 1 in v has invalid size: should be torch.Size\(\[2\]\) but got",
        ),
        (lambda F, t, x: F.hvp(lambda x: (x.sum(),), x, x), RuntimeError, "return a single Tensor"),
        (lambda F, t, x: F.hessian(lambda x: (x.sum(), 2), x), TypeError, "value at index 1 has"),
        (lambda F, t, x: F.jacobian(lambda x: [x], x), TypeError, "given outputs of the user-pro"),
        (lambda F, t, x: F.jacobian(t.sin, x, strategy="x"), AssertionError, "to be either"),
        (
            lambda F, t, x: F.jacobian(t.sin, x, strategy="forward-mode"),
            NotImplementedError,
            "only implemented for `vectorize=True`",
        ),
        (
            lambda F, t, x: F.jacobian(
                t.sin, x, strategy="forward-mode", vectorize=True, create_graph=True
            ),
            NotImplementedError,
            '`create_graph=True` and `strategy="forward-mode"` are not supported together',
        ),
        (
            lambda F, t, x: F.jacobian(t.sin, x, strict=True, vectorize=True),
            RuntimeError,
            "`strict=True` and `vectorized=True` are not supported together",
        ),
    ],
)
def test_what_functional_refuses(torch, call, error, message):
    with pytest.raises(error, match=message):
        call(torch.autograd.functional, torch, torch.ones(2))


@pytest.mark.parametrize("name", ["vjp", "jvp", "hvp", "vhp", "jacobian", "hessian"])
def test_graph_of_the_result_is_recorded_where_no_other_is(torch, name):
    F = torch.autograd.functional
    x = double(torch, 1.0, 2.0).requires_grad_()
    v = () if name in ("jacobian", "hessian") else (torch.ones_like(x),)
    function = (lambda x: x**3) if name in ("vjp", "jvp", "jacobian") else (lambda x: (x**3).sum())
    with torch.no_grad():
        alone = getattr(F, name)(function, x, *v)
        recorded = getattr(F, name)(function, x, *v, create_graph=True)
    for each in alone if v else (alone,):
        assert not each.requires_grad
    for each in recorded if v else (recorded,):
        assert each.requires_grad


@pytest.mark.parametrize("vectorize", [False, True])
def test_hessian_with_unrelated_inputs(torch, vectorize):
    x, y = two(torch)
    blocks = torch.autograd.functional.hessian(
        lambda x, y: (x**3).sum(), (x, y), vectorize=vectorize
    )
    assert blocks[0][0].tolist() == [[6.0, 0.0], [0.0, 12.0]]
    for each in (blocks[0][1], blocks[1][0], blocks[1][1]):
        assert each.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_the_standard_basis_has_a_part_for_each_tensor(torch):
    basis = torch.autograd.functional._construct_standard_basis_for
    parts = basis((torch.ones(()), torch.ones(2)), (1, 2))
    assert torch.equal(torch.cat(parts, 1), torch.eye(3))
    with pytest.raises(AssertionError, match="same length, but got 1 and 0"):
        basis((torch.ones(1),), ())
    with pytest.raises(AssertionError, match="at least one"):
        basis((), ())

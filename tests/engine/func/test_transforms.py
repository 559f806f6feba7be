"""vmap, grad, vjp, jvp, jacobians and their nestings, beside PyTorch where it is installed."""

from __future__ import annotations

import collections
from typing import Any

import pytest

import gradtool.engine as engine

Pair = collections.namedtuple("Pair", ["first", "second"])


def double(torch, *values):
    return torch.tensor(values, dtype=torch.float64)


def matrix(torch, rows=3, columns=4):
    return torch.arange(1.0, rows * columns + 1, dtype=torch.float64).reshape(rows, columns) / 7


def close(a, b, tol=1e-12):
    assert list(a.shape) == list(b.shape)
    assert float((a - b).abs().max()) <= tol * max(1.0, float(b.abs().max())) if a.numel() else True


def stacked(torch, function, x):
    return torch.stack([function(row) for row in x])


FUNCTIONS = {
    "elementwise": lambda t, x: x.sin() * x.exp() + 2,
    "scalar result": lambda t, x: (x * x).sum(),
    "softmax": lambda t, x: x.softmax(0),
    "mean and var": lambda t, x: x.mean() + x.var(),
    "outer": lambda t, x: t.outer(x, x),
    "matmul": lambda t, x: x @ t.ones(4, 2, dtype=t.float64),
    "dot": lambda t, x: t.dot(x, x.cos()),
    "index": lambda t, x: x[1:] * x[0],
    "gather": lambda t, x: x.gather(0, t.tensor([2, 0])),
    "integer index": lambda t, x: x[t.tensor([1, 1, 3])],
    "mask": lambda t, x: t.where(x > 0.5, x * 2, x),
    "cumsum": lambda t, x: x.cumsum(0),
    "max": lambda t, x: x.max(),
    "max with dim": lambda t, x: x.max(0).values,
    "sort": lambda t, x: x.sort(descending=True)[0],
    "reshape": lambda t, x: x.reshape(2, 2).t(),
    "cat": lambda t, x: t.cat([x, x * 2]),
    "stack": lambda t, x: t.stack([x, x]).sum(0),
    "broadcast": lambda t, x: x.unsqueeze(1) + x,
    "in place": lambda t, x: x.clone().mul_(3).add_(1),
    "into a constant": lambda t, x: _into_constant(t, x),
    "prod": lambda t, x: x.prod(),
    "norm": lambda t, x: x.norm(),
    "logsumexp": lambda t, x: x.logsumexp(0),
    "flip": lambda t, x: x.flip(0) * x,
    "clamp": lambda t, x: x.clamp(0.3, 1.0),
    "power": lambda t, x: x**3,
}


def _into_constant(t, x):
    out = t.zeros_like(x)
    out += x * 2
    out[0] = x[3]
    return out


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap_equals_the_loop(torch, name):
    function = lambda x: FUNCTIONS[name](torch, x)  # noqa: E731 - closes over torch
    x = matrix(torch)
    close(torch.func.vmap(function)(x), stacked(torch, function, x))
    close(
        torch.func.vmap(function, in_dims=1, out_dims=-1)(x.t()).movedim(-1, 0),
        stacked(torch, function, x),
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nested_vmap_equals_two_loops(torch, name):
    function = lambda x: FUNCTIONS[name](torch, x)  # noqa: E731 - closes over torch
    x = torch.stack([matrix(torch), matrix(torch) * 1.5])
    looped = torch.stack([stacked(torch, function, each) for each in x])
    close(torch.func.vmap(torch.func.vmap(function))(x), looped)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians_of_both_modes_agree(torch, name):
    function = lambda x: FUNCTIONS[name](torch, x)  # noqa: E731 - closes over torch
    x = matrix(torch)[0]
    reverse = torch.func.jacrev(function)(x)
    close(torch.func.jacfwd(function)(x), reverse)
    close(torch.autograd.functional.jacobian(function, x), reverse)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_in_every_nesting_agree(torch, name):
    if name == "into a constant" and torch.__name__ == "torch":
        pytest.skip("PyTorch refuses a batched value written into an unbatched tensor")
    f = torch.func
    function = lambda x: (FUNCTIONS[name](torch, x) ** 2).sum()  # noqa: E731 - closes over torch
    x = matrix(torch)[0]
    expected = torch.autograd.functional.hessian(function, x)
    close(f.hessian(function)(x), expected)
    close(f.jacrev(f.jacrev(function))(x), expected)
    close(f.jacfwd(f.jacfwd(function))(x), expected)
    close(f.jacrev(f.jacfwd(function))(x), expected)


def test_per_example_gradients(torch):
    def loss(weight, x):
        return ((x @ weight) ** 2).sum()

    w, x = matrix(torch, 4, 2), matrix(torch)
    per_example = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(w, x)
    expected = torch.stack([torch.func.grad(loss)(w, row) for row in x])
    close(per_example, expected)


def test_trees_and_named_tuples(torch):
    def function(inputs):
        return {"sum": inputs["a"] + inputs["b"][0], "pair": Pair(inputs["a"], inputs["b"][0])}

    inputs = {"a": matrix(torch), "b": [matrix(torch) * 2]}
    out = torch.func.vmap(function)(inputs)
    assert isinstance(out["pair"], Pair)
    close(out["sum"], inputs["a"] * 3)


def test_grad_of_trees(torch):
    def loss(parameters, x):
        return (parameters["w"] * x + parameters["b"]).sum()

    x = double(torch, 1.0, 2.0)
    parameters = {"w": double(torch, 3.0, 4.0), "b": double(torch, 0.0)}
    grads = torch.func.grad(loss)(parameters, x)
    assert grads["w"].tolist() == [1.0, 2.0]
    assert grads["b"].tolist() == [2.0]


def test_argnums_and_aux(torch):
    def function(x, y):
        return (x * y).sum(), x + y

    x, y = double(torch, 1.0, 2.0), double(torch, 3.0, 4.0)
    grads, aux = torch.func.grad(function, argnums=(0, 1), has_aux=True)(x, y)
    assert [g.tolist() for g in grads] == [[3.0, 4.0], [1.0, 2.0]]
    assert aux.tolist() == [4.0, 6.0]
    grad, (value, aux) = torch.func.grad_and_value(function, argnums=1, has_aux=True)(x, y)
    assert grad.tolist() == [1.0, 2.0]
    assert value.item() == 11.0


def test_vjp_and_jvp_are_adjoint(torch):
    function = lambda x: FUNCTIONS["softmax"](torch, x)  # noqa: E731 - closes over torch
    x, t, g = matrix(torch)[0], matrix(torch)[1], matrix(torch)[2]
    _, pull = torch.func.vjp(function, x)
    _, pushed = torch.func.jvp(function, (x,), (t,))
    assert (pull(g)[0] * t).sum().item() == pytest.approx((g * pushed).sum().item(), rel=1e-13)


def test_a_linear_function_computes_in_the_mode_it_is_called_in():
    with engine.inference_mode():
        _, push = engine.func.linearize(engine.exp, engine.ones(2))
        assert push(engine.ones(2)).is_inference()


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")  # PyTorch's tracer
def test_linearize(torch):
    x, t = double(torch, 1.0, 2.0), double(torch, 1.0, -1.0)
    value, push = torch.func.linearize(lambda x: x**2, x)
    assert value.tolist() == [1.0, 4.0]
    assert push(t).tolist() == [2.0, -4.0]


def test_chunks(torch):
    x = matrix(torch, 5, 4)
    function = lambda x: (x * x).sum()  # noqa: E731 - short
    close(torch.func.vmap(function, chunk_size=2)(x), torch.func.vmap(function)(x))


def test_grad_sees_through_to_the_outer_graph(torch):
    x = double(torch, 2.0).requires_grad_()
    inner = torch.func.grad(lambda z: (z**3).sum())(x)
    inner.sum().backward()
    assert x.grad.item() == 12.0


def test_no_grad_outside_does_not_stop_grad(torch):
    with torch.no_grad():
        assert torch.func.grad(lambda x: (x * x).sum())(double(torch, 3.0)).item() == 6.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: t.func.vmap(lambda x: x)(t.ones(2), t.ones(3)), (ValueError, TypeError), ""),
        (lambda t: t.func.vmap(lambda x: x)(3.0), ValueError, "non-Tensor|input is of type"),
        (lambda t: t.func.vmap(lambda x: x, in_dims=3)(t.ones(2)), ValueError, "dimensionality"),
        (lambda t: t.func.vmap(lambda x: 3.0)(t.ones(2)), ValueError, "must only return Tensors"),
        (lambda t: t.func.vmap(lambda x: x.item())(t.ones(2)), RuntimeError, "vmap"),
        (lambda t: t.func.vmap(lambda x, y: x + y)(t.ones(2), t.ones(3)), ValueError, "size"),
        (lambda t: t.func.grad(lambda x: x)(t.ones(2)), RuntimeError, "scalar"),
        (lambda t: t.func.grad(lambda x: x.sum(), argnums=3)(t.ones(2)), RuntimeError, "argnum"),
        (lambda t: t.func.jvp(lambda x: x, t.ones(2), t.ones(2)), RuntimeError, "tuple"),
        (lambda t: t.func.vmap(lambda x: x, randomness="?")(t.ones(2)), RuntimeError, "randomness"),
    ],
)
def test_mistakes(torch, call, error, message):
    with pytest.raises(error, match=message or "."):
        call(torch)


def test_backward_and_data_are_refused_inside_transforms(torch: Any) -> None:
    def backward(x: Any) -> Any:
        y = x.sin().sum()
        y.backward()
        return y

    for transformed in (torch.func.grad(backward), torch.func.vmap(backward)):
        with pytest.raises(RuntimeError, match="called inside a functorch transform"):
            transformed(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="accessing `data` under vmap transform"):
        torch.func.vmap(lambda x: x.data)(torch.ones(2))
    slope = torch.func.grad(lambda x: (x.data * x).sum())(torch.ones(2))
    assert slope.tolist() == [1.0, 1.0]


def test_a_batched_tensor_cannot_be_used_after_its_transform(torch):
    kept = []

    def keep(x):
        kept.append(x)
        return x.sum()

    torch.func.vmap(keep)(double(torch, 1.0, 2.0))
    with pytest.raises(RuntimeError, match="escaped from inside a function being vmapped"):
        kept[0] * 2
    torch.func.grad(keep)(double(torch, 1.0, 2.0))
    assert (kept[1] * 2).tolist() == [2.0, 4.0]

"""Edges of the graph as arguments, the arguments of `backward` and `grad`, and calls of nodes."""

from __future__ import annotations

import collections
import warnings
from typing import Any

import pytest


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_an_edge_can_be_an_input_and_an_output(torch: Any) -> None:
    a = leaf(torch, 2.0)
    b = a * 3
    edge = torch.autograd.graph.get_gradient_edge(b)
    (of_b,) = torch.autograd.grad((b * b).sum(), edge)
    assert of_b.item() == 12.0
    (of_a,) = torch.autograd.grad(edge, a, grad_outputs=of_b)
    assert of_a.item() == 36.0
    out = (a * 3).sum()
    torch.autograd.backward(out, inputs=torch.autograd.graph.get_gradient_edge(a))
    assert a.grad.item() == 3.0


def test_cotangents_of_edges_are_checked(torch: Any) -> None:
    b = leaf(torch, 2.0, 3.0) * 3
    edge = torch.autograd.graph.get_gradient_edge(b)
    info = edge.node._input_metadata[0]
    assert (tuple(info.shape), info.dtype) == ((2,), torch.float64)
    for cotangent, message in [
        (None, "implicitly created only for scalar outputs"),
        (torch.ones(3), "Mismatch in shape"),
        (torch.ones(2, dtype=torch.complex64), "required to have the same dtype"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            torch.autograd.backward(edge, cotangent)


def test_the_node_of_a_node_can_be_an_output(torch: Any) -> None:
    a = leaf(torch, 2.0)
    inner = (a * 3).exp().grad_fn.next_functions[0][0]
    edge = torch.autograd.graph.GradientEdge(inner, 0)
    (found,) = torch.autograd.grad(edge, a, torch.ones(1, dtype=torch.float64))
    assert found.item() == 3.0


def test_zeros_cannot_be_made_for_an_edge(torch: Any) -> None:
    a, b = leaf(torch, 1.0).clone(), leaf(torch, 1.0).clone()
    edge = torch.autograd.graph.GradientEdge(b.grad_fn, b.output_nr)
    with pytest.raises(RuntimeError, match="cannot be used when the given input is a GradientEdge"):
        torch.autograd.grad(a.sum(), (a, edge), materialize_grads=True)


def test_zeros_for_unused_inputs_are_differentiable(torch: Any) -> None:
    a, b = leaf(torch, 1.0), leaf(torch, 2.0)
    (zero,) = torch.autograd.grad(a * 2, b, create_graph=True, materialize_grads=True)
    assert torch.autograd.grad(zero, b, materialize_grads=True)[0].item() == 0


def test_gradients_of_a_dictionary_are_one(torch: Any) -> None:
    a, b = leaf(torch, 1.0), leaf(torch, 2.0)
    found = torch.autograd.grad(a * b, {"a": a, "b": b})
    assert {name: each.item() for name, each in found.items()} == {"a": 2.0, "b": 1.0}
    with pytest.raises(TypeError, match="must be a dict, not OrderedDict"):
        torch.autograd.grad(a * b, collections.OrderedDict(a=a))


@pytest.mark.parametrize(
    ("outputs", "inputs", "error", "message"),
    [
        ("a", [], RuntimeError, r"`inputs` argument to `grad\(\)` cannot be empty"),
        ("a", [None], RuntimeError, "have to be Tensors or GradientEdges, but got NoneType"),
        ([None], "a", AssertionError, "Expected output to be a torch.Tensor"),
        ("constant", "a", RuntimeError, "element 0 of tensors does not require grad"),
        ("a", "constant", RuntimeError, "does not require grad"),
    ],
)
def test_wrong_arguments_are_refused(
    torch: Any, outputs: Any, inputs: Any, error: type[Exception], message: str
) -> None:
    tensors = {"a": leaf(torch, 1.0), "constant": torch.ones(1)}

    def value(given: Any) -> Any:
        return tensors[given] if isinstance(given, str) else given

    with pytest.raises(error, match=message):
        torch.autograd.grad(value(outputs), value(inputs))


def test_a_batch_of_cotangents_frees_the_graph_once(torch: Any) -> None:
    a, b = leaf(torch, 3.0), leaf(torch, 1.0)
    out = a * a
    found, unused = torch.autograd.grad(
        out, (a, b), torch.ones(2, 1), is_grads_batched=True, materialize_grads=True
    )
    assert found.tolist() == [[6.0], [6.0]]
    assert unused.tolist() == [0.0]
    with pytest.raises(RuntimeError, match="a second time"):
        torch.autograd.grad(out, a)
    with pytest.raises(RuntimeError, match="we interpret the first dimension of each grad_output"):
        torch.autograd.grad(a * a, a, torch.ones(2, 2), is_grads_batched=True)


def test_nodes_have_an_edge_for_each_tensor(torch: Any) -> None:
    a, constant = leaf(torch, 1.0), torch.ones(1)
    for out, expected in [
        (a * 2, [True, False]),
        (constant * a, [False, True]),
        (a**2, [True]),
        (torch.where(a > 0, a, 2.0), [True, False]),
        (torch.cat([a, constant]), [True, False]),
        (torch.gather(a, 0, torch.tensor([0])), [True]),
    ]:
        assert [node is not None for node, _ in out.grad_fn.next_functions] == expected


def test_nodes_can_be_called(torch: Any) -> None:
    node = (leaf(torch, 1.0) * 3).grad_fn
    assert [None if each is None else each.item() for each in node(torch.ones(1))] == [3.0, None]
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        node(torch.ones(1), torch.ones(1))
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        node("a")


def test_what_was_computed_before_set_is_no_function_of_the_tensor(torch: Any) -> None:
    x = leaf(torch, 1.0)
    edge = torch.autograd.graph.get_gradient_edge(x)
    out = x.clone()
    with torch.no_grad():
        x.set_(torch.ones(1, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(out.sum(), x)
    assert torch.autograd.grad(out.sum(), edge)[0].item() == 1.0


def test_a_second_derivative_that_is_refused_shows_in_the_graph(torch: Any) -> None:
    class Once(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any, number: Any) -> Any:
            return x * number

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2, None

    def described(node: Any) -> str:
        if node is None:
            return "None"
        inner = ", ".join(described(each) for each, _ in node.next_functions)
        return f"{type(node).__name__}({inner})"

    x = leaf(torch, 1.0)
    with warnings.catch_warnings():
        # Warned of once in a process: whichever test is first has it.
        warnings.simplefilter("ignore")
        Once.apply(x, 2).backward(torch.ones(1, requires_grad=True), create_graph=True)
    assert described(x.grad.grad_fn) == "CopyBackwards(None, Error(AccumulateGrad(), None))"


@pytest.mark.parametrize("name", ["acosh_", "asinh_", "atanh_"])
def test_some_in_place_forms_have_no_derivative(torch: Any, name: str) -> None:
    x = leaf(torch, 0.5)
    out = getattr(x.clone(), name)()
    assert out.grad_fn.name() == f"{name[:-1].capitalize()}Backward1"
    with pytest.raises(NotImplementedError, match="the derivative for 'inplace version of a"):
        out.backward()


def test_attributes_that_are_listed_are_there(torch: Any) -> None:
    x = torch.ones(2, 2)
    assert all(hasattr(x, name) for name in dir(x) if name != "imag")

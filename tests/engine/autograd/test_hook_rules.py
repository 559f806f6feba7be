"""Hooks: their order, their arguments, and what they may return."""

from __future__ import annotations

import itertools
from typing import Any

import pytest


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_leaves_run_as_soon_as_their_gradient_is_complete(torch: Any) -> None:
    events: list[str] = []

    def note(name: str) -> Any:
        return lambda *_: events.append(name)

    a, b, c = leaf(torch, 1.0), leaf(torch, 2.0), leaf(torch, 3.0)
    for name, tensor in (("a", a), ("b", b), ("c", c)):
        tensor.register_hook(note(name))
        tensor.register_post_accumulate_grad_hook(note(f"{name}!"))
    x, y = a * b, c * 2
    z = x * 3
    w = z + y
    v = w * b
    for name, tensor in (("x", x), ("y", y), ("z", z), ("w", w), ("v", v)):
        tensor.register_hook(note(name))
    v.sum().backward()
    assert events == ["v", "w", "z", "y", "c", "c!", "x", "a", "a!", "b", "b!"]


def test_an_assigned_dictionary_of_hooks_is_the_one_in_use(torch: Any) -> None:
    from collections import OrderedDict

    events: list[str] = []
    x = leaf(torch, 1.0)
    hooks = OrderedDict({1: lambda _: events.append("assigned")})
    x._backward_hooks = hooks
    x.sum().backward()
    x.register_hook(lambda _: events.append("registered"))
    assert x._backward_hooks is hooks
    x.sum().backward()
    assert events == ["assigned", "assigned", "registered"]
    constant = torch.ones(1)
    constant._backward_hooks = hooks
    assert constant._backward_hooks is hooks


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 13])
def test_leaves_that_are_complete_at_once_run_in_the_order_of_torch(count: int) -> None:
    torch = pytest.importorskip("torch")
    import gradtool.engine

    def order(library: Any) -> list[int]:
        events: list[int] = []
        leaves = [leaf(library, float(n)) for n in range(count)]
        for number, each in enumerate(leaves):
            each.register_hook(lambda _, number=number: events.append(number))
        pairs = [one * other for one, other in itertools.pairwise(leaves)]
        library.stack([*leaves, *pairs, *leaves]).sum().backward()
        return events

    assert order(gradtool.engine) == order(torch)


def test_hooks_of_a_leaf_surround_its_accumulation(torch: Any) -> None:
    a = leaf(torch, 1.0)
    b = a * 2
    events: list[str] = []
    end = b.grad_fn.next_functions[0][0]
    end.register_hook(lambda *_: events.append("after"))
    end.register_prehook(lambda *_: events.append("before"))
    a.register_hook(lambda *_: events.append("tensor"))
    a.register_post_accumulate_grad_hook(lambda *_: events.append("accumulated"))
    b.backward(retain_graph=True)
    assert events == ["tensor", "before", "accumulated", "after"]
    events.clear()
    torch.autograd.grad(b, a, retain_graph=True)
    assert events == ["tensor"]
    events.clear()
    b.backward(inputs=[b])
    assert events == []


def test_the_gradient_of_an_inner_node_that_runs_is_from_before_its_hooks(torch: Any) -> None:
    a = leaf(torch, 1.0)
    b = a * 2
    b.register_hook(lambda g: g * 10)
    b.grad_fn.register_prehook(lambda g: (g[0] * 100,))
    out = (b * b).sum()
    both = torch.autograd.grad(out, (b, a), retain_graph=True)
    assert [each.item() for each in both] == [4.0, 8000.0]
    assert torch.autograd.grad(out, b)[0].item() == 40.0


def test_backward_to_an_inner_tensor_runs_its_node_and_retains(torch: Any) -> None:
    a = leaf(torch, 1.0)
    b = a * 2
    seen: list[Any] = []
    b.grad_fn.register_hook(lambda inputs, _: seen.append(inputs))
    (b * b).sum().backward(inputs=[b])
    assert seen == [(None, None)]
    assert b.grad.item() == 4.0
    assert a.grad is None


def test_a_retained_gradient_adds_up(torch: Any) -> None:
    b = leaf(torch, 1.0) * 2
    b.retain_grad()
    out = b.sum()
    out.backward(retain_graph=True)
    out.backward()
    assert b.grad.item() == 2.0


_ONES = {
    "an int": lambda _: 3,
    "a tuple of one": lambda torch: (torch.ones(2, dtype=torch.float64),),
    "a tensor": lambda torch: torch.ones(2, dtype=torch.float64),
    "another shape": lambda torch: torch.ones(3, dtype=torch.float64),
    "another dtype": lambda torch: torch.ones(2),
    "a complex one": lambda torch: torch.ones(2, dtype=torch.complex128),
    "a tuple of another shape": lambda torch: (torch.ones(3, dtype=torch.float64),),
    "a tuple of none": lambda _: (),
    "a tuple of two": lambda torch: (torch.ones(2), torch.ones(2)),
    "a list": lambda torch: [torch.ones(2, dtype=torch.float64)],
    "a tuple with None": lambda _: (None,),
    "a tuple with a string": lambda _: ("a",),
}


def _outcome(library: Any, kind: str, returned: Any) -> Any:
    a = leaf(library, 1.0, 2.0)
    b = a * 2

    def hook(*_: Any) -> Any:
        return returned(library)

    register = {
        "tensor": b.register_hook,
        "leaf": a.register_hook,
        "before": b.grad_fn.register_prehook,
        "after": b.grad_fn.register_hook,
        "before leaf": b.grad_fn.next_functions[0][0].register_prehook,
        "after leaf": b.grad_fn.next_functions[0][0].register_hook,
        "accumulated": a.register_post_accumulate_grad_hook,
    }[kind]
    register(hook)
    try:
        (b * b).sum().backward()
    except (RuntimeError, TypeError) as error:
        return isinstance(error, TypeError), str(error)
    return None if a.grad is None else a.grad.tolist()


@pytest.mark.torch
@pytest.mark.parametrize("returned", _ONES.values(), ids=_ONES)
@pytest.mark.parametrize(
    "kind",
    ["tensor", "leaf", "before", "after", "before leaf", "after leaf", "accumulated"],
)
def test_hooks_may_return_what_they_may_in_torch(kind: str, returned: Any) -> None:
    torch = pytest.importorskip("torch")
    import gradtool.engine

    assert _outcome(gradtool.engine, kind, returned) == _outcome(torch, kind, returned)


def test_a_hook_is_named_in_the_error_about_it(torch: Any) -> None:
    class Hook:
        def __call__(self, grad: Any) -> Any:
            return torch.ones(5, dtype=torch.float64)

    b = leaf(torch, 1.0) * 2
    b.register_hook(Hook())
    with pytest.raises(RuntimeError, match="hook '<unknown>' has changed the size of value"):
        b.sum().backward()
    b = leaf(torch, 1.0) * 2
    b.register_hook(lambda _: torch.ones(5, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="hook '<lambda>' has changed the size of value"):
        b.sum().backward()


def test_a_leaf_that_requires_no_gradient_any_more_gets_none(torch: Any) -> None:
    a = leaf(torch, 1.0)
    out = a * 1
    a.requires_grad_(False)
    out.sum().backward()
    assert a.grad is None


def test_a_leaf_takes_a_gradient_that_nothing_else_holds(torch: Any) -> None:
    class Twice(torch.autograd.Function):  # type: ignore[misc] # of either library
        seen = 0

        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            Twice.seen = grad.data_ptr()
            return grad, grad

    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    Twice.apply(x, y)[1].backward()
    assert x.grad.data_ptr() != y.grad.data_ptr()
    assert Twice.seen in (x.grad.data_ptr(), y.grad.data_ptr())
    z = leaf(torch, 1.0)
    held: list[Any] = []
    z.register_hook(held.append)
    (z * 2).sum().backward()
    assert z.grad.data_ptr() != held[0].data_ptr()


def test_a_gradient_is_laid_out_as_its_leaf(torch: Any) -> None:
    for of, strides in [
        (torch.zeros(3, 4), (4, 1)),
        (torch.zeros(3, 4).t(), (1, 4)),
        (torch.zeros(6, 4)[::2], (4, 1)),
        (torch.zeros(6, 4, 5).permute(1, 2, 0), (5, 1, 20)),
    ]:
        x = of.requires_grad_()
        (x * 2).sum().backward()
        assert x.grad.stride() == strides


def test_an_only_root_does_not_count_among_the_hooks_of_several(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 1
    seen: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook([y, y], seen.append, mode="all")
    torch.autograd.grad(y, y)
    assert seen == []
    torch.autograd.graph.register_multi_grad_hook([x, y], seen.append, mode="all")
    (x * 1 + 0).backward(inputs=[x])
    assert len(seen) == 1


def test_a_view_outside_of_the_graph_cannot_be_among_several_with_hooks(torch: Any) -> None:
    x = torch.tensor([2.0], requires_grad=True)
    with torch.no_grad():
        view = x[:1]
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        torch.autograd.graph.register_multi_grad_hook([view], print)


def test_a_leaf_that_moved_into_the_graph_takes_no_gradient(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 2
    x.detach_()
    x.mul_(torch.tensor(1.0, requires_grad=True))
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        y.backward()


def test_a_hook_registered_while_the_node_runs_is_called(torch: Any) -> None:
    calls = []

    def unpack(tensor: Any) -> Any:
        y.grad_fn.register_hook(lambda *_: calls.append(1))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        y = leaf(torch, 1.0).sin()
    y.backward()
    assert calls == [1]

"""The backward walk: accumulation, retained graphs, hooks, pruning, errors, depth."""

from __future__ import annotations

import gc
from typing import Any

import pytest


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_gradients_accumulate(torch):
    x = leaf(torch, 2.0)
    (x * 3).sum().backward()
    (x * 4).sum().backward()
    assert x.grad.item() == 7.0
    x.grad = None
    (x * x + x).sum().backward()
    assert x.grad.item() == 5.0


def test_gradients_of_two_leaves_do_not_share_memory(torch):
    x, y = leaf(torch, 1.0), leaf(torch, 1.0)
    (x + y).sum().backward()
    x.grad.mul_(10)
    assert y.grad.item() == 1.0


def test_given_cotangent_is_not_aliased(torch):
    x = leaf(torch, 1.0)
    g = torch.ones(1, dtype=torch.float64)
    x.backward(g)
    g.mul_(5)
    assert x.grad.item() == 1.0


def test_diamond(torch):
    x = leaf(torch, 2.0)
    a = x * x
    (a * a + a * 3).sum().backward()
    assert x.grad.item() == 4 * 8 + 3 * 4


def test_grad_does_not_touch_leaves(torch):
    x, y = leaf(torch, 2.0), leaf(torch, 5.0)
    gx, gy = torch.autograd.grad((x * y).sum(), (x, y))
    assert (gx.item(), gy.item()) == (5.0, 2.0)
    assert x.grad is None
    assert y.grad is None


def test_grad_of_an_intermediate(torch):
    x = leaf(torch, 2.0)
    a = x * 3
    b = a * a
    assert torch.autograd.grad(b.sum(), a)[0].item() == 12.0


def test_grad_of_the_output_itself(torch):
    x = leaf(torch, 2.0)
    y = x * 3
    gy, gx = torch.autograd.grad(y.sum(), (y, x))
    assert (gy.item(), gx.item()) == (1.0, 3.0)


def test_unused_input(torch):
    x, y = leaf(torch, 1.0), leaf(torch, 1.0)
    with pytest.raises(RuntimeError, match="not have been used"):
        torch.autograd.grad((x * 2).sum(), (x, y))
    g = torch.autograd.grad((x * 2).sum(), (x, y), allow_unused=True)
    assert g[1] is None
    g = torch.autograd.grad((x * 2).sum(), (x, y), materialize_grads=True)
    assert g[1].tolist() == [0.0]


def test_only_what_leads_to_the_inputs_runs(torch):
    ran = []

    class Loud(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            ran.append(1)
            return g

    x, y = leaf(torch, 1.0), leaf(torch, 1.0)
    torch.autograd.grad((x * 2 + Loud.apply(y)).sum(), x)
    assert ran == []


def test_inputs_of_backward(torch):
    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.item() == 2.0
    assert y.grad is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, x: (x * 2).backward(), "only for scalar outputs"),
        (lambda t, x: x.detach().sum().backward(), "does not require grad"),
        (lambda t, x: t.autograd.grad(x.sum(), x.detach()), "does not require grad"),
        (lambda t, x: (x * 2).backward(t.ones(3, dtype=t.float64)), "Mismatch in shape"),
        (lambda t, x: t.autograd.grad([x.sum(), x.sum()], x, [None]), "2 tensors and 1 gradients"),
    ],
)
def test_mistakes_in_the_call(torch, call, message):
    with pytest.raises(RuntimeError, match=message):
        call(torch, leaf(torch, 1.0, 2.0))


def test_graph_is_freed(torch):
    x = leaf(torch, 1.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_a_node_that_gets_no_gradient_refuses_to_run_again_too(torch):
    x = leaf(torch, 1.0)
    y = x.exp()
    y.grad_fn.register_prehook(lambda grads: (None,))
    assert torch.autograd.grad(y, x, leaf(torch, 1.0), allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(y, x, leaf(torch, 1.0), allow_unused=True)


def test_create_graph_keeps_the_graph(torch):
    x = leaf(torch, 2.0)
    y = (x**3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    (ggg,) = torch.autograd.grad(gg.sum(), x)
    assert (g.item(), gg.item(), ggg.item()) == (12.0, 12.0, 6.0)


def test_tensor_hook_sees_and_replaces(torch):
    x = leaf(torch, 1.0)
    a = x * 2
    seen = []
    handle = a.register_hook(lambda g: seen.append(g.item()) or g * 10)
    (a * 3).sum().backward()
    assert seen == [3.0]
    assert x.grad.item() == 60.0
    handle.remove()
    x.grad = None
    (a.detach() * 1).sum()
    (x * 2).sum().backward()
    assert x.grad.item() == 2.0


def test_hook_on_a_leaf(torch):
    x = leaf(torch, 1.0)
    x.register_hook(lambda g: g * 2)
    (x * 3).sum().backward()
    assert x.grad.item() == 6.0
    assert torch.autograd.grad((x * 3).sum(), x)[0].item() == 6.0


def test_hook_sees_the_whole_gradient_once(torch):
    x = leaf(torch, 1.0)
    a = x * 2
    seen = []
    a.register_hook(lambda g: seen.append(g.item()))
    (a + a * 4).sum().backward()
    assert seen == [5.0]


def test_hook_needs_a_gradient(torch):
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_hook(lambda g: g)


def test_retain_grad(torch):
    x = leaf(torch, 1.0)
    a = x * 2
    a.retain_grad()
    (a * 3).sum().backward()
    assert a.grad.item() == 3.0
    assert a.retains_grad
    assert not x.retains_grad


def test_node_hooks(torch):
    x = leaf(torch, 1.0)
    y = x * 2
    seen = []
    y.grad_fn.register_prehook(lambda gs: seen.append(("before", gs[0].item())))
    y.grad_fn.register_hook(lambda ins, outs: seen.append(("after", outs[0].item())))
    (y * 3).sum().backward()
    assert seen == [("before", 3.0), ("after", 3.0)]


def test_next_functions(torch):
    x = leaf(torch, 1.0)
    y = x * x.exp()
    names = [node.name() for node, _ in y.grad_fn.next_functions]
    assert names[0].endswith("AccumulateGrad")
    assert names[1] == "ExpBackward0"
    assert y.grad_fn.next_functions[0][0].variable is x


def test_changed_in_place_after_saving(torch):
    x = leaf(torch, 1.0).clone()
    y = x * x
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_changed_in_place_but_not_needed(torch):
    x = leaf(torch, 1.0)
    a = x * 2
    y = a + 1
    with torch.no_grad():
        a.add_(1)
    y.sum().backward()
    assert x.grad.item() == 2.0


def test_requires_grad_rules(torch):
    with pytest.raises(RuntimeError, match="floating point"):
        torch.tensor([1, 2], requires_grad=True)
    x = leaf(torch, 1.0)
    with pytest.raises(RuntimeError, match="leaf"):
        (x * 2).requires_grad = False
    assert not x.detach().requires_grad
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()
    with torch.no_grad():
        assert x.numpy().tolist() == [1.0]


def test_grad_modes_nest_and_decorate(torch):
    x = leaf(torch, 1.0)

    @torch.no_grad()
    def silent():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            return x * 2

    assert silent().requires_grad
    with torch.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert torch.is_grad_enabled()


def test_walk_restores_the_mode_after_an_error(torch):
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        Fails.apply(leaf(torch, 1.0)).sum().backward()
    assert torch.is_grad_enabled()


def test_float32_and_float64_meet(torch):
    x = torch.tensor([1.0, 2.0], dtype=torch.float32, requires_grad=True)
    y = leaf(torch, 3.0, 4.0)
    (x * y).sum().backward()
    assert x.grad.dtype == torch.float32
    assert x.grad.tolist() == [3.0, 4.0]
    assert y.grad.dtype == torch.float64


def test_broadcast_gradients_are_summed(torch):
    x = torch.ones(3, 1, dtype=torch.float64, requires_grad=True)
    y = torch.ones(4, dtype=torch.float64, requires_grad=True)
    s = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    (x * y * s).sum().backward()
    assert x.grad.shape == (3, 1)
    assert x.grad.tolist() == [[8.0]] * 3
    assert y.grad.tolist() == [6.0] * 4
    assert s.grad.item() == 12.0


def test_deep_chain(torch):
    x = leaf(torch, 1.0)
    y = x
    for _ in range(100_000):
        y = y + 1
    y.sum().backward()
    assert x.grad.item() == 1.0
    del y
    gc.collect()


@pytest.mark.parametrize("name", ["min", "max", "median", "nanmedian"])
def test_equal_elements_share_the_gradient(torch, name):
    nan = float("nan")
    for values in ([1.0, 0.0, 1.0, 0.0], [nan, nan]):
        x = torch.tensor(values, requires_grad=True)
        getattr(torch, name)(x).backward()
        assert sorted(x.grad.tolist()) == [0.0] * (len(values) - 2) + [0.5, 0.5]


def test_the_shape_of_one_of_a_batch_of_cotangents_is_named(torch):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"grad_output\[0\] has a shape of torch.Size\(\[\]\)"):
        torch.autograd.grad(x * 2, x, torch.ones(2), is_grads_batched=True)


@pytest.mark.parametrize("power", [lambda x: x**2, lambda x: x.square(), lambda x: x**3])
def test_every_derivative_of_a_power_can_be_differentiated_once_more(torch, power):
    x = torch.tensor([3.0], requires_grad=True)
    out, found = power(x), []
    while out.requires_grad:
        (out,) = torch.autograd.grad(out.sum(), x, create_graph=True)
        found.append(out.item())
    assert found in ([6.0, 2.0, 0.0], [27.0, 18.0, 6.0, 0.0])


def test_rows_of_cotangents_are_refused_where_there_are_none(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        torch.autograd.grad(x * 2, x, torch.tensor(1.0), is_grads_batched=True)

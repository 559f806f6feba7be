"""Saved-tensor hooks, edges, multi-gradient hooks, versions, anomaly mode."""

from __future__ import annotations

import warnings

import pytest


def test_hooks_on_several_tensors_wait_for_those_that_the_walk_runs(torch):
    a = leaf(torch, 1.0, 2.0)
    b, c = a * 2, a * 3
    out = (b * c).sum()
    seen = []

    def note(grads):
        seen.append([grad is not None for grad in grads])

    register = torch.autograd.graph.register_multi_grad_hook
    with register((b, c, a), note):
        out.backward(retain_graph=True)
        torch.autograd.grad(out, b, retain_graph=True)
        b.sum().backward(retain_graph=True)
        with pytest.raises(RuntimeError, match="A leaf node was passed"):
            torch.autograd.grad(out, a, retain_graph=True)
    assert seen == [[True] * 3, [True, False, False], [True, False, True]]
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        register((torch.ones(2),), note)


def leaf(torch, *values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_saved_tensors_go_through_the_hooks(torch):
    packed, unpacked = [], []

    def pack(tensor):
        packed.append(tensor.tolist())
        return tensor.tolist()

    def unpack(content):
        unpacked.append(content)
        return torch.tensor(content, dtype=torch.float64)

    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        z = x * y
    z.sum().backward()
    assert sorted(packed) == [[2.0], [3.0]]
    assert sorted(unpacked) == [[2.0], [3.0]]
    assert (x.grad.item(), y.grad.item()) == (3.0, 2.0)


def test_hooks_see_what_a_function_saves(torch):
    packed = []

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            _, y = ctx.saved_tensors
            return g * y

    x = leaf(torch, 0.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
        y = Exp.apply(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert len(packed) == 2
    assert torch.autograd.grad(g.sum(), x)[0].item() == 1.0


def test_double_backward_through_packed_tensors(torch):
    x = leaf(torch, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = (x**3).exp().log()
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert torch.autograd.grad(g.sum(), x)[0].item() == pytest.approx(12.0, rel=1e-12)


def test_save_on_cpu(torch):
    x = leaf(torch, 2.0)
    with torch.autograd.graph.save_on_cpu():
        y = x * x
    y.sum().backward()
    assert x.grad.item() == 4.0


def test_disabled_hooks(torch):
    graph = torch.autograd.graph
    with (
        graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        pass


def test_mutation_allowed(torch):
    x = leaf(torch, 2.0).clone()
    x.retain_grad()
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x**2
        with torch.no_grad():
            x.add_(5)
        y.sum().backward()
    assert x.grad.item() == 4.0


@pytest.mark.parametrize("mode", ["all", "any"])
def test_multi_grad_hook(torch, mode):
    seen = []
    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    a, b = x * 2, y * 3
    torch.autograd.graph.register_multi_grad_hook((a, b), seen.append, mode=mode)
    (a * b).sum().backward()
    assert len(seen) == 1
    if mode == "all":
        assert [g.item() for g in seen[0]] == [6.0, 2.0]


def test_multi_grad_hook_where_one_has_no_gradient(torch):
    seen = []
    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    a, b = x * 2, y * 3
    torch.autograd.graph.register_multi_grad_hook((a, b), seen.append)
    (a * 5).sum().backward()
    assert [None if g is None else g.item() for g in seen[0]] == [5.0, None]


def test_gradient_edge(torch):
    x = leaf(torch, 1.0)
    y = x * 2
    edge = torch.autograd.graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn
    assert edge.output_nr == 0
    assert torch.autograd.graph.get_gradient_edge(x).node.variable is x
    with pytest.raises(RuntimeError, match="gradient edge"):
        torch.autograd.graph.get_gradient_edge(torch.ones(1))


def test_increment_version(torch):
    x = leaf(torch, 1.0).clone()
    y = x * x
    torch.autograd.graph.increment_version(x)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        y.sum().backward()


def test_anomaly_mode_finds_nan(torch):
    x = leaf(torch, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            y = (x * 0).sqrt() * 0
            with pytest.raises(RuntimeError, match="returned nan values in its 0th output"):
                y.sum().backward()


def test_versions_are_those_of_tensors(torch):
    with pytest.raises(RuntimeError, match="increment_version expect a"):
        torch.autograd.graph.increment_version(3)


def test_a_view_made_in_inference_mode_takes_no_multi_grad_hook(torch):
    x = torch.ones(2, requires_grad=True) * 1
    with torch.inference_mode():
        view = x[:]
        with pytest.raises(AttributeError, match="next_functions"):
            torch.autograd.graph.register_multi_grad_hook([view], print)

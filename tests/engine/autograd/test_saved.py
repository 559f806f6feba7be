"""Single saved tensors: their values by name, and hooks on one of them."""

from __future__ import annotations

from typing import Any

import pytest


def leaf(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def same(tensor: Any) -> Any:
    return tensor


def test_hooks_replace_one_saved_tensor(torch: Any) -> None:
    a = leaf(torch)
    out = a * a
    saved = out.grad_fn._raw_saved_self
    assert isinstance(saved, torch.autograd.SavedTensor)
    assert torch.equal(saved.data, a)
    assert saved.unpack_hook is None
    saved.register_hooks(lambda tensor: tensor.tolist(), lambda _: torch.full((2,), 5.0))
    assert saved.data == [1.0, 2.0]
    unpacked = out.grad_fn._saved_self
    assert (unpacked.tolist(), unpacked.is_leaf, unpacked.requires_grad) == ([5.0, 5.0], True, True)
    out.sum().backward()
    assert a.grad.tolist() == [6.0, 7.0]


def test_hooks_replace_a_saved_result(torch: Any) -> None:
    a = leaf(torch)
    out = a.exp()
    out.grad_fn._raw_saved_result.register_hooks(lambda tensor: tensor * 2, same)
    assert out.grad_fn._saved_result.grad_fn is out.grad_fn
    out.sum().backward()
    assert torch.allclose(a.grad, out * 2)


def test_hooks_replace_what_a_function_saved(torch: Any) -> None:
    class Keep(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x, None)
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.saved_tensors[0]

    a = leaf(torch)
    out = Keep.apply(a)
    first, second = out.grad_fn._raw_saved_tensors
    first.register_hooks(lambda tensor: tensor * 3, same)
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        second.register_hooks(same, same)
    out.sum().backward()
    assert a.grad.tolist() == [3.0, 6.0]
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        out.grad_fn._raw_saved_tensors  # noqa: B018 - asking is the point


def test_hooks_are_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python"):
        torch.autograd.SavedTensor()
    out = leaf(torch).exp()
    saved = out.grad_fn._raw_saved_result
    with pytest.raises(TypeError, match="incompatible function arguments"):
        saved.register_hooks(same)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        saved.register_hooks(1, 2)
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
        saved.register_hooks(lambda tensor: tensor.mul_(2), same)
    out = leaf(torch).exp()
    saved = out.grad_fn._raw_saved_result
    saved.register_hooks(same, same)
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        saved.register_hooks(same, same)
    out = leaf(torch).exp()
    out.sum().backward()
    with pytest.raises(RuntimeError, match="after it has been freed"):
        out.grad_fn._raw_saved_result.register_hooks(same, same)
    assert out.grad_fn._raw_saved_result.data is None


def test_hooks_cannot_be_disabled_while_in_force(torch: Any) -> None:
    graph = torch.autograd.graph
    with (
        graph.saved_tensors_hooks(same, same),
        pytest.raises(RuntimeError, match="not now"),
        graph.disable_saved_tensors_hooks("not now"),
    ):
        pass
    with pytest.raises(TypeError, match="incompatible function arguments"):
        graph.saved_tensors_hooks(1, 2).__enter__()


def test_blocks_that_allow_mutation_do_not_nest(torch: Any) -> None:
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors
    with allow():
        b = leaf(torch).clone()
        out = (b**2).sum()
        b.sin_()
        with pytest.raises(RuntimeError, match="contexts cannot be nested"), allow():
            pass
    with allow():
        out = (leaf(torch) ** 2).sum()
    with pytest.raises(AssertionError, match="Trying to backward outside"):
        out.backward()
    with allow(), pytest.raises(AssertionError, match="Trying to backward outside"):
        out.backward()


def test_a_walk_can_be_looked_into(torch: Any) -> None:
    core = pytest.importorskip("torch")._C if torch.__name__ == "torch" else _core()
    assert core._current_graph_task_id() == -1
    a, b = leaf(torch), leaf(torch)
    product = a * b
    out, other = product.exp() * a.sin(), a * 2
    seen: list[Any] = []

    def look(_: Any) -> None:
        seen.append(core._current_graph_task_id() >= 0)
        seen.append(core._will_engine_execute_node(product.grad_fn))
        seen.append(core._will_engine_execute_node(other.grad_fn))
        seen.append([node.name() for node in core._current_graph_task_execution_order()])

    out.register_hook(look)
    with torch.autograd.set_multithreading_enabled(False):
        out.backward(torch.ones(2), retain_graph=True)
    assert seen[:3] == [True, True, False]
    leaves = ["torch::autograd::AccumulateGrad"] * 2
    assert seen[3] == ["MulBackward0", "SinBackward0", "ExpBackward0", "MulBackward0", *leaves]
    with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
        core._will_engine_execute_node(out.grad_fn)


def _core() -> Any:
    from gradtool.engine import _C

    return _C


SAVED: dict[str, tuple[Any, bool, bool]] = {
    "sgn": (lambda t, x: x.sgn(), True, True),
    "angle": (lambda t, x: x.angle(), True, False),
    "gather": (lambda t, x: x.gather(0, t.tensor([0])), True, False),
    "take": (lambda t, x: x.take(t.tensor([0])), True, False),
    "cummax": (lambda t, x: x.cummax(0)[0], True, False),
    "index_add": (lambda t, x: (x * 2).index_add(0, t.tensor([0]), x[:1]), True, False),
    "deg2rad": (lambda t, x: x.deg2rad(), False, False),
    "sub": (lambda t, x: t.sub(x, x, alpha=2), False, False),
}
"""An operation, and whether it saves its argument and its result, as torch does needed or not."""


@pytest.mark.parametrize("changed", ["argument", "result"])
@pytest.mark.parametrize("name", SAVED)
def test_what_torch_saves_may_not_be_changed(torch: Any, name: str, changed: str) -> None:
    operation, *saved = SAVED[name]
    leaf = torch.tensor([-1.0, 0.5], requires_grad=True)
    x = leaf * 1
    y = operation(torch, x)
    with torch.no_grad():
        (x if changed == "argument" else y).add_(1)
    if saved[changed == "result"]:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
    else:
        y.sum().backward()


@pytest.mark.parametrize("name", ["exp_", "tanh_", "elu", "leaky_relu", "celu"])
@pytest.mark.parametrize("of_view", [True, False])
def test_a_result_written_over_its_input_may_not_be_changed_again(
    torch: Any, name: str, of_view: bool
) -> None:
    base = torch.tensor([-1.0, 0.5], requires_grad=True) * 1
    x = base[:1] if of_view else base
    if name.endswith("_"):
        getattr(x, name)()
    else:
        getattr(torch.nn.functional, name)(x, inplace=True)
    with torch.no_grad():
        base.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        base.sum().backward()


def test_saved_tensors_are_unpacked_by_hand_until_they_are_freed(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * x
    assert y.grad_fn._raw_saved_self.unpack().tolist() == [1, 1]
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.grad_fn._raw_saved_self.unpack()

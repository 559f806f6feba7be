"""What the variant without reentrance computes again, when, and what it refuses."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def module(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.utils.checkpoint")


@pytest.fixture
def checkpoint(module: Any) -> Callable[..., Any]:
    return functools.partial(module.checkpoint, use_reentrant=False)


@pytest.fixture
def x(torch: Any) -> Any:
    return torch.tensor([0.5], requires_grad=True)


def unlike(first: Callable[..., Any], again: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is another one from the second call on."""
    calls: list[None] = []

    def run(x: Any) -> Any:
        calls.append(None)
        return (first if len(calls) == 1 else again)(x)

    return run


def slope(torch: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any) -> Any:
        return torch.autograd.grad(function(x).sum(), x, create_graph=True)[0]

    return run


def test_second_call_ends_with_the_last_tensor_needed(module: Any, x: Any) -> None:
    ends = []

    def run(x: Any) -> Any:
        out = x.sin().cos()
        ends.append(1)
        return out.clone()

    module.checkpoint(run, x, use_reentrant=False).backward()
    assert len(ends) == 1
    with module.set_checkpoint_early_stop(False):
        out = module.checkpoint(run, x, use_reentrant=False)
    out.backward()
    assert len(ends) == 3
    module.checkpoint(run, x, use_reentrant=False, early_stop=False).backward()
    assert len(ends) == 5


def test_nested_checkpoints_to_third_order(torch: Any, checkpoint: Any, x: Any) -> None:
    def kept(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x: checkpoint(function, x)

    def plain(x: Any) -> Any:
        return x.sin().exp().sin()

    take = functools.partial(slope, torch)
    expected = take(take(take(plain)))(x)
    for nested in (
        take(take(take(kept(kept(plain))))),
        kept(take(take(kept(take(kept(plain)))))),
    ):
        assert torch.equal(nested(x), expected)


def test_each_walk_computes_again(module: Any, x: Any) -> None:
    calls = []

    def run(x: Any) -> Any:
        calls.append(1)
        return x.sin().cos(), x.cos().sin()

    one, other = module.checkpoint(run, x, use_reentrant=False)
    one.backward()
    other.backward()
    assert len(calls) == 3
    one, other = module.checkpoint(run, x, use_reentrant=False)
    with module.GraphExecGroup():
        one.backward(retain_graph=True)
        other.backward()
        with pytest.raises(RuntimeError, match="Performing two backward calls that overlap"):
            one.backward()
    assert len(calls) == 5


def test_a_tensor_is_taken_out_once(torch: Any, checkpoint: Any, x: Any) -> None:
    class TakesTwice(torch.autograd.Function):  # type: ignore[misc]  # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            assert ctx.saved_tensors
            return grad * ctx.saved_tensors[0]

    with pytest.raises(RuntimeError, match="already unpacked once"):
        checkpoint(TakesTwice.apply, x).backward()


def test_looking_at_what_a_node_saved_computes_again(checkpoint: Any, x: Any) -> None:
    calls = []

    def run(x: Any) -> Any:
        calls.append(1)
        return x.exp()

    out = checkpoint(run, x)
    assert out.grad_fn._saved_result.tolist() == out.tolist()
    assert len(calls) == 2


def save_two(x: Any) -> Any:
    return x.sin().exp()


def save_three(x: Any) -> Any:
    return x.sin().exp().sin()


def save_longer(x: Any) -> Any:
    return (x.expand(2) * 1).sin().exp()


def test_calls_that_save_otherwise_are_refused(torch: Any, module: Any, x: Any) -> None:
    def differ(first: Any, again: Any, **options: Any) -> Any:
        return module.checkpoint(unlike(first, again), x, use_reentrant=False, **options)

    with pytest.raises(module.CheckpointError, match=r"during forward: 3\n.*recomputation: 2"):
        differ(save_three, save_two).backward()
    with pytest.raises(module.CheckpointError, match="trying to save more tensors"):
        differ(save_two, save_three, early_stop=False).backward()
    differ(save_two, save_three).backward()
    with pytest.raises(module.CheckpointError, match=r"have different metadata .*\n.*position"):
        differ(save_two, save_longer).backward()
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        differ(save_two, save_two, determinism_check="all")


def test_debugging_shows_the_operations_of_both_calls(module: Any, x: Any) -> None:
    run = unlike(lambda x: x.sin().exp(), lambda x: x.sin().sum())
    out = module.checkpoint(run, x, use_reentrant=False, debug=True)
    with pytest.raises(module.CheckpointError, match="because you passed `debug=True`") as raised:
        out.backward()
    assert all(word in str(raised.value) for word in ("sin", "exp", "sum", __file__))
    with module.set_checkpoint_debug_enabled(False):
        run = unlike(save_three, save_two)
        out = module.checkpoint(run, x, use_reentrant=False, debug=True)
        with pytest.raises(module.CheckpointError, match="Tip: To see a more detailed error"):
            out.backward()


def test_exceptions_of_the_function_pass(module: Any, checkpoint: Any, x: Any) -> None:
    def fail(_x: Any) -> Any:
        raise KeyError("boo")

    def swallowing() -> Any:
        return contextlib.suppress(KeyError), contextlib.nullcontext()

    with pytest.raises(KeyError, match="boo"):
        checkpoint(fail, x)
    with pytest.raises(RuntimeError, match="suppressed an exception"):
        checkpoint(fail, x, context_fn=swallowing)
    with pytest.raises(ValueError, match="incompatible with non-default context_fn"):
        checkpoint(fail, x, context_fn=swallowing, debug=True)


def test_arguments_changed_in_place_are_refused(torch: Any, checkpoint: Any, x: Any) -> None:
    given = x.clone()
    out = checkpoint(torch.sin, given)
    given.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_default_device_of_forward_is_that_of_the_second_call(torch: Any, checkpoint: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.device("cpu"):
        out = checkpoint(lambda x: (x * torch.ones(2)).exp(), x)
    out.sum().backward()
    assert x.grad is not None


def test_policies_keep_results_of_operations(torch: Any, module: Any) -> None:
    asked = []

    def policy(_ctx: Any, op: Any, *_args: Any, **_kwargs: Any) -> Any:
        asked.append(op)
        kept = op == torch.ops.aten.mm.default
        return module.CheckpointPolicy.MUST_SAVE if kept else module.CheckpointPolicy.MUST_RECOMPUTE

    x = torch.tensor([[0.5, 0.25], [1.0, 2.0]], requires_grad=True)

    def run(x: Any) -> Any:
        return (x @ x).sigmoid() @ x

    expected = slope(torch, run)(x)
    for choice in (policy, [torch.ops.aten.mm.default]):
        contexts = functools.partial(module.create_selective_checkpoint_contexts, choice)
        out = module.checkpoint(run, x, use_reentrant=False, context_fn=contexts).sum()
        assert torch.equal(torch.autograd.grad(out, x, retain_graph=True)[0], expected)
        with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
            out.backward()
    assert [str(op) for op in asked] == [
        "aten.mm.default", "aten.sigmoid.default", "aten.mm.default",
    ]  # fmt: skip


def test_policies_are_functions_or_overloads(torch: Any, module: Any) -> None:
    with pytest.raises(ValueError, match=r"to be an OpOverload but got: .*Please update"):
        module.create_selective_checkpoint_contexts([torch.ops.aten.mm])
    with pytest.raises(TypeError, match="must be either a function or a list of ops"):
        module.create_selective_checkpoint_contexts(3)


def test_old_variant_refuses_a_function_without_gradient(torch: Any, module: Any, x: Any) -> None:
    with pytest.raises(RuntimeError, match=r"this checkpoint\(\) is not necessary"):
        module.checkpoint(lambda x: x.detach(), x, use_reentrant=True).backward()
    with pytest.raises(RuntimeError, match=r"incompatible with .grad\(\)"):
        torch.autograd.grad(module.checkpoint(torch.sin, x, use_reentrant=True), x)
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        module.detach_variable([x])

"""Less known options of a Function and its ctx, and attributes of tensors about hooks."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import pytest


def test_saved_tensors_can_be_taken_once(torch: Any) -> None:
    class Once(torch.autograd.Function):  # type: ignore[misc] # of either library
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            assert len(ctx.saved_tensors) == 1
            with pytest.raises(RuntimeError, match="can only be accessed once"):
                ctx.saved_tensors  # noqa: B018 - asking is the point
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    out = Once.apply(x)
    out.sum().backward()
    with pytest.raises(RuntimeError, match="can only be accessed once"):
        out.grad_fn.saved_tensors  # noqa: B018 - asking is the point


def test_cotangents_come_in_a_list(torch: Any) -> None:
    class Boxed(torch.autograd.Function):  # type: ignore[misc] # of either library
        boxed_grads_call = True

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, grads: Any) -> Any:
            first = grads.pop(0)
            return first * 2 + grads.pop() * 3

    x = torch.ones(2, requires_grad=True)
    sum(Boxed.apply(x)).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


@pytest.mark.parametrize("materialized", [True, False])
def test_cotangents_of_constant_outputs(torch: Any, materialized: bool) -> None:
    seen: list[Any] = []

    class Parts(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            fixed = x.clone()
            ctx.mark_non_differentiable(fixed)
            ctx._materialize_non_diff_grads = materialized
            return x.clone(), fixed, x > 0, x.clone()

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            seen.extend(grad is not None for grad in grads)
            return grads[0]

    Parts.apply(torch.ones(2, requires_grad=True))[0].sum().backward()
    assert seen == [True, materialized, materialized, True]


def test_ctx_can_be_run_alone(torch: Any) -> None:
    class Twice(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    node = Twice.apply(torch.ones(2, requires_grad=True)).grad_fn
    assert node.apply(torch.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="'TwiceBackward' object is not callable"):
        node(torch.ones(2))


def test_hooks_of_a_tensor_can_be_looked_at(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    assert x._backward_hooks is None
    assert x._post_accumulate_grad_hooks is None
    handle = x.register_hook(lambda grad: grad)
    x.register_post_accumulate_grad_hook(lambda _: None)
    assert list(x._backward_hooks) == [handle.id]
    assert len(x._post_accumulate_grad_hooks) == 1
    for name in ("_grad_fn", "_backward_hooks", "data", "requires_grad"):
        with pytest.raises(RuntimeError):
            delattr(x, name)
    x.grad = torch.ones(2)
    assert copy.deepcopy(x).grad.tolist() == [1.0, 1.0]
    del x.grad
    assert x.grad is None
    with pytest.raises(TypeError):
        x.data = None


def test_hooks_of_a_leaf_end_with_it(torch: Any) -> None:
    def hook(_: Any) -> None:
        pass

    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(hook)
    x.sum().backward()
    of_tensor, of_hook = weakref.ref(x), weakref.ref(hook)
    del x, hook
    gc.collect()
    assert of_tensor() is None
    assert of_hook() is None


@pytest.mark.parametrize(
    ("mark", "error", "message"),
    [
        ("mark_dirty", RuntimeError, "mark_dirty can only accept variables"),
        ("mark_non_differentiable", RuntimeError, "only accepts variable arguments"),
        ("set_materialize_grads", TypeError, "an invalid combination of arguments"),
        ("save_for_backward", TypeError, "argument 0 is of type int"),
    ],
)
def test_ctx_takes_tensors(torch: Any, mark: str, error: type[Exception], message: str) -> None:
    class Marked(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            getattr(ctx, mark)(3)
            return x * 2

    with pytest.raises(error, match=message):
        Marked.apply(torch.ones(2, requires_grad=True))


def test_nodes_cannot_be_copied(torch: Any) -> None:
    node = (torch.ones(2, requires_grad=True) * 2).grad_fn
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle 'MulBackward0' object"):
            make(node)
    assert node.next_functions[0][0]._sequence_nr() == 2**64 - 1


def test_a_leaf_may_be_dirty_where_no_derivative_is_asked_for(torch: Any) -> None:
    class Double(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x.mul_(2))
            ctx.mark_non_differentiable(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise AssertionError

    x = torch.ones(2, requires_grad=True)
    y = Double.apply(x)
    assert (x.requires_grad, y.requires_grad) == (True, False)
    assert x.tolist() == y.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((1,), {"gain": 2}, r"forward\(\) got an unexpected keyword argument 'gain'"),
        ((1,), {"y": 2}, r"forward\(\) got multiple values for argument 'y'"),
        ((), {"scale": 2}, r"forward\(\) missing required argument: 'y' \(position 1\)"),
        ((1,), {"other": 2}, r"forward\(\) got an unexpected keyword argument 'other'"),
    ],
)
def test_an_argument_by_name_needs_a_position(
    torch: Any, args: Any, kwargs: Any, message: str
) -> None:
    class Scaled(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, scale: Any = 2, *, gain: Any = 1) -> Any:
            return x * y * scale * gain

    x = torch.ones(2, requires_grad=True)
    assert Scaled.apply(x, scale=3, y=1).tolist() == [3, 3]
    with pytest.raises(TypeError, match=message):
        Scaled.apply(x, *args, **kwargs)


def test_only_a_batch_takes_keyword_only_arguments(torch: Any) -> None:
    class Scaled(torch.autograd.Function):  # type: ignore[misc] # of either library
        generate_vmap_rule = False

        @staticmethod
        def forward(x: Any, *, gain: Any = 1) -> Any:
            return x * gain

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, *, gain: Any) -> Any:
            return x * gain, 0

    x = torch.ones(2)
    assert torch.vmap(lambda each: Scaled.apply(each, gain=3))(x).tolist() == [3, 3]
    with pytest.raises(TypeError, match="unexpected keyword argument 'gain'"):
        Scaled.apply(x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'gain'"):
        torch.func.grad(lambda each: Scaled.apply(each).sum())(x)


def test_saved_tensors_can_be_freed_within_backward(torch: Any) -> None:
    class Freed(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            ctx.maybe_clear_saved_tensors()
            seen.append(ctx.saved_tensors)
            return grad * 2

    seen: list[Any] = []
    out = Freed.apply(torch.ones(2, requires_grad=True))
    out.sum().backward(retain_graph=True)
    assert len(seen[0]) == 1
    with pytest.raises(RuntimeError, match="saved"):
        out.sum().backward()

"""Halves of an operation, which pass their gradient on in an object."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool import Function
from gradtool.collect import halves
from gradtool.collect.halves import half_of
from gradtool.collect.purpose import unchecked
from gradtool.collect.unchecked import Purpose


class Start(Function):
    @staticmethod
    def forward(ctx: Any, request: Any, x: Any) -> Any:
        request.tensor = x * 2
        ctx.request = request
        return request.anchor

    @staticmethod
    def backward(ctx: Any, *unused: Any) -> Any:
        request = ctx.request
        return None, request.tensor


class Finish(Function):
    @staticmethod
    def forward(ctx: Any, request: Any, anchor: Any) -> Any:
        ctx.request = request
        return request.tensor

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        grad = grad.contiguous()
        ctx.request.tensor = grad * 2
        return None, ctx.request.anchor


class Send(Function):
    """Its queue sends, and its backward replaces the cotangent by what comes back."""

    @staticmethod
    def forward(ctx: Any, x: Any, queue: Any) -> Any:
        queue.send(x)
        ctx.queue = queue
        return x.new_ones(()) if queue is None else queue.anchor

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        grad = ctx.queue.gradients.popleft()
        return grad, None


class Hide(Function):
    """Its portal has the tensor, and gets the gradient from the other side."""

    @staticmethod
    def forward(ctx: Any, portal: Any, tensor: Any) -> Any:
        ctx.portal = portal
        return anchor_on(tensor.device)

    @staticmethod
    def backward(ctx: Any, grad_anchor: Any) -> Any:
        grad = ctx.portal.take()
        return None, grad


class Show(Function):
    @staticmethod
    def forward(ctx: Any, portal: Any, anchor: Any) -> Any:
        ctx.portal = portal
        return portal.tensor.detach()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        ctx.portal.put(grad)
        return None, None


class Carry(Function):
    """It only moves what the portal has."""

    @staticmethod
    def forward(ctx: Any, portal: Any, anchor: Any) -> Any:
        ctx.portal = portal
        portal.tensor = portal.tensor.cpu()
        return anchor.detach()

    @staticmethod
    def backward(ctx: Any, grad_anchor: Any) -> Any:
        portal = ctx.portal
        (portal.grad,) = moved(portal.grad)
        grads: list[None] = [None, None]
        return tuple(grads)


class Launch(Function):
    """It waits for a handle that comes on the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any, group: Any) -> Any:
        ctx.group = group
        return x * 1

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        grad = grads[0]
        handle = getattr(grad, "_handle", None)
        if handle is None:
            raise RuntimeError("the gradient has lost its handle")
        handle.wait()
        return grad, None


class Await(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, handle: Any) -> Any:
        ctx.shape = x.shape
        handle.wait()
        return x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        given = grad.new_empty(ctx.shape)
        setattr(given, "_handle", moved(given, grad))  # noqa: B010
        return given, None


class OfLayout(Function):
    """A whole one that asks for what every tensor has."""

    @staticmethod
    def forward(ctx: Any, x: Any, options: Any) -> Any:
        ctx.options = options
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return (grad * 2).to(getattr(grad, "dtype", None)), None


def anchor_on(device: Any) -> Any:
    raise NotImplementedError


def moved(*tensors: Any) -> Any:
    raise NotImplementedError


class Kept(Function):
    """A wrong one: its gradient is a constant of its options."""

    @staticmethod
    def forward(ctx: Any, x: Any, options: Any) -> Any:
        ctx.options = options
        return x * options.scale

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return ctx.options.take(), None


class Constant(Function):
    """A wrong backward: it leaves the cotangent out."""

    @staticmethod
    def forward(ctx: Any, x: Any, cache: Any) -> Any:
        cache.result = x * x
        ctx.cache = cache
        return cache.result * x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return ctx.cache.result, None


class Counting(Function):
    """A right one that keeps statistics of its gradients."""

    @staticmethod
    def forward(ctx: Any, x: Any, module: Any) -> Any:
        ctx.module = module
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        ctx.module.norm = grad.norm()
        return grad * 2, None


def test_both_halves_pass_their_gradient_on_in_the_object_that_they_share() -> None:
    assert half_of(Start) == half_of(Finish) == "request"
    assert half_of(Hide) == half_of(Show) == half_of(Carry) == "portal"


def test_both_halves_pass_their_gradient_on_as_an_attribute_of_it() -> None:
    assert half_of(Launch) == half_of(Await) == "_handle"
    assert half_of(OfLayout) is None


def test_a_cotangent_that_is_replaced_unread_is_not_used() -> None:
    class Plain(Send):
        @staticmethod
        def forward(ctx: Any, x: Any, queue: Any) -> Any:
            queue.send(x)
            ctx.queue = queue
            return queue.anchor

    assert half_of(Plain) == "queue"


def test_a_backward_without_objects_of_forward_is_not_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Whole(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return 2 * grad * ctx.saved_tensors[0]

    monkeypatch.setattr(halves, "_depends", lambda *_: pytest.fail("it is followed"))
    assert half_of(Whole) is None


def test_outputs_that_depend_on_the_inputs_have_a_derivative_of_their_own() -> None:
    assert [half_of(each) for each in (Send, Constant, Counting, Kept)] == [None] * 4


def test_a_half_is_listed_with_the_advice_to_check_the_whole() -> None:
    found = unchecked(Start)
    assert found is not None
    assert found.purpose is Purpose.HALF
    assert found.message == (
        "is half of an operation: its gradient passes through `request` to or from another Function"
    )
    assert "calls both halves" in str(found.hint)

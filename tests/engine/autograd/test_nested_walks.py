"""Walks within walks, callbacks at the end of one, and hooks that are left in force by one."""

from __future__ import annotations

import threading
import time
import warnings
from typing import Any

import pytest

import gradtool.engine
from gradtool.sandbox.timeout import TimedOut, time_limit


def test_walks_nest_to_any_depth(torch: Any) -> None:
    class Deep(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            if ctx.x >= 0:
                with torch.enable_grad():
                    Deep.apply(ctx.x).sum().backward()
            return grad

    x = torch.tensor(600.0, requires_grad=True)
    Deep.apply(x).sum().backward()
    assert x.grad == 1


def test_an_error_deep_down_is_raised_at_the_top(torch: Any) -> None:
    class Deep(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any, depth: int) -> Any:
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            if not ctx.depth:
                raise ZeroDivisionError("at the bottom")
            with torch.enable_grad():
                Deep.apply(grad.detach().requires_grad_(), ctx.depth - 1).backward()
            return grad, None

    with pytest.raises(ZeroDivisionError, match="at the bottom"):
        Deep.apply(torch.ones((), requires_grad=True), 100).backward()


def test_callbacks_run_at_the_end_of_the_walk(torch: Any) -> None:
    engine = torch.autograd.Variable._execution_engine
    events: list[str] = []
    x = torch.ones(2, requires_grad=True)
    y = x * 2

    def hook(_: Any) -> None:
        engine.queue_callback(lambda: (events.append("first"), engine.queue_callback(last)))
        events.append("hook")

    def last() -> None:
        events.append("last")

    y.register_hook(hook)
    x.register_hook(lambda _: events.append("leaf"))
    y.sum().backward()
    assert events == ["hook", "leaf", "first", "last"]
    with pytest.raises(RuntimeError, match="can only be installed during backward pass"):
        engine.queue_callback(last)


def test_saved_tensor_hooks_entered_in_a_walk_end_with_it(torch: Any) -> None:
    packed: list[int] = []

    def pack(tensor: Any) -> Any:
        packed.append(1)
        return tensor

    left_open = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda _: left_open.__enter__())
    y.sum().backward()
    x.exp()
    assert not packed


def test_a_failing_walk_names_its_parents_in_anomaly_mode(torch: Any) -> None:
    class Bad(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return Worse.apply(grad)

    class Worse(torch.autograd.Function):  # type: ignore[misc] # of either library
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * float("nan")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            x = torch.ones(2, requires_grad=True)
            (g,) = torch.autograd.grad((Bad.apply(x) * x).sum(), x, create_graph=True)
            assert "parent_" not in (x * 2).grad_fn.metadata
            with pytest.raises(RuntimeError, match="'WorseBackward' returned nan values"):
                g.sum().backward()
    texts = [str(each.message) for each in caught]
    assert any(text.startswith("Error detected in WorseBackward.") for text in texts)
    assert any("Previous calculation was induced by BadBackward" in text for text in texts)


def test_notes_on_a_node_live_as_long_as_it(torch: Any) -> None:
    node = (torch.ones(2, requires_grad=True) * 2).grad_fn
    assert node.metadata == {}
    node.metadata["note"] = 1
    assert node.metadata == {"note": 1}


def test_walks_that_nest_without_an_end_can_be_interrupted() -> None:
    class Endless(gradtool.engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            with gradtool.engine.enable_grad():
                Endless.apply(grad.detach().requires_grad_()).sum().backward()
            return grad

    y = Endless.apply(gradtool.engine.ones((), requires_grad=True))
    before = threading.active_count()
    with pytest.raises(TimedOut), time_limit(0.5):
        y.backward()
    for _ in range(100):
        if threading.active_count() <= before:
            return
        time.sleep(0.1)
    raise AssertionError("walks go on in other threads")

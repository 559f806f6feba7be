"""A checkpointed part is computed again in the backward walk, with the same random numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest


class Counted:
    """Calls of a function that saves tensors and draws a random number."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.count = torch, 0

    def __call__(self, x: Any, y: Any = 1.0) -> Any:
        self.count += 1
        return (x.exp() * self.torch.rand_like(x)).sin() * x * y


@pytest.fixture(params=[True, False])
def reentrant(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def checkpoint(torch: Any, reentrant: bool) -> Callable[..., Any]:
    run = import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    return lambda *args, **params: run(*args, use_reentrant=reentrant, **params)


def test_gradients_are_those_without_it(torch: Any, checkpoint: Callable[..., Any]) -> None:
    plain, again = Counted(torch), Counted(torch)
    x = torch.linspace(-1, 1, 5, requires_grad=True)
    found = []
    runs: list[Callable[[], Any]] = [lambda: plain(x), lambda: checkpoint(again, x)]
    for run in runs:
        torch.manual_seed(3)
        out = run()
        x.grad = None
        out.sum().backward()
        found.append([out.detach(), x.grad.clone(), torch.rand(1)])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))
    assert (plain.count, again.count) == (1, 2)


def test_random_numbers_go_on_as_if_nothing_was_drawn_again(
    torch: Any, checkpoint: Callable[..., Any]
) -> None:
    x = torch.ones(3, requires_grad=True)
    torch.manual_seed(0)
    out = checkpoint(Counted(torch), x)
    state = torch.get_rng_state()
    out.sum().backward()
    assert torch.equal(torch.get_rng_state(), state)


def test_keyword_arguments(torch: Any, checkpoint: Callable[..., Any], reentrant: bool) -> None:
    x = torch.ones(3, requires_grad=True)
    if reentrant:
        with pytest.raises(ValueError, match="Unexpected keyword arguments: y"):
            checkpoint(Counted(torch), x, y=2.0)
        return
    counted = Counted(torch)
    checkpoint(counted, x, y=2.0).sum().backward()
    assert counted.count == 2


def test_parameters_of_modules_get_gradients(torch: Any, checkpoint: Callable[..., Any]) -> None:
    layer = torch.nn.Linear(2, 2)
    x = torch.ones(1, 2, requires_grad=True)
    checkpoint(layer, x).sum().backward()
    assert layer.weight.grad.tolist() == [[1, 1], [1, 1]]


def test_the_way_is_to_be_said(torch: Any) -> None:
    module = import_module(f"{torch.__name__}.utils.checkpoint")
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        module.checkpoint(torch.exp, torch.ones(2, requires_grad=True))
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        module.checkpoint(torch.exp, torch.ones(2), use_reentrant=True)


def test_a_second_call_that_saves_less_is_told(torch: Any) -> None:
    module = import_module(f"{torch.__name__}.utils.checkpoint")
    calls = []

    def unlike(x: Any) -> Any:
        calls.append(1)
        return x.exp().sin() if len(calls) == 1 else x * 2

    out = module.checkpoint(unlike, torch.ones(2, requires_grad=True), use_reentrant=False)
    with pytest.raises(RuntimeError, match="A different number of tensors was saved"):
        out.sum().backward()


def test_a_chain_in_parts(torch: Any) -> None:
    module = import_module(f"{torch.__name__}.utils.checkpoint")
    layers = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(5)])
    x = torch.ones(1, 2, requires_grad=True)
    out = module.checkpoint_sequential(layers, 2, x, use_reentrant=False)
    assert torch.equal(out, layers(x))
    out.sum().backward()
    assert all(each.grad is not None for each in layers.parameters())


def test_each_call_has_its_context(torch: Any) -> None:
    checkpoint = import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    entered: list[str] = []

    @contextlib.contextmanager
    def context(name: str) -> Iterator[None]:
        entered.append(name)
        yield

    def contexts() -> Any:
        return context("first"), context("again")

    x = torch.ones(1, requires_grad=True)
    out = checkpoint(torch.exp, x, use_reentrant=False, context_fn=contexts)
    assert entered == ["first"]
    out.backward()
    assert entered == ["first", "again"]
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(torch.exp, x, use_reentrant=True, context_fn=contexts)

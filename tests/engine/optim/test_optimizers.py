"""Optimizers and schedules take the steps that PyTorch's take, and refuse what those refuse."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

Make = Callable[[Any, Any], Any]

OPTIMIZERS: dict[str, Make] = {
    "sgd": lambda o, p: o.SGD(p, lr=0.1),
    "momentum": lambda o, p: o.SGD(p, 0.1, momentum=0.9, weight_decay=0.01, dampening=0.1),
    "nesterov": lambda o, p: o.SGD(p, 0.1, momentum=0.9, nesterov=True),
    "maximize": lambda o, p: o.SGD(p, 0.01, maximize=True),
    "adam": lambda o, p: o.Adam(p, lr=0.1, weight_decay=0.1),
    "amsgrad": lambda o, p: o.Adam(p, lr=0.1, amsgrad=True),
    "adamw": lambda o, p: o.AdamW(p, lr=0.1),
    "adamax": lambda o, p: o.Adamax(p, lr=0.1, weight_decay=0.1),
    "nadam": lambda o, p: o.NAdam(p, lr=0.1, weight_decay=0.1),
    "radam": lambda o, p: o.RAdam(p, lr=0.1),
    "adagrad": lambda o, p: o.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.2),
    "adadelta": lambda o, p: o.Adadelta(p, weight_decay=0.1),
    "rmsprop": lambda o, p: o.RMSprop(p, lr=0.1),
    "centered": lambda o, p: o.RMSprop(p, lr=0.1, momentum=0.5, centered=True),
    "rprop": lambda o, p: o.Rprop(p, lr=0.1),
    "lbfgs": lambda o, p: o.LBFGS(p, lr=0.1, max_iter=5),
    "lbfgs-wolfe": lambda o, p: o.LBFGS(p, line_search_fn="strong_wolfe"),
    "groups": lambda o, p: o.SGD([{"params": p[:1], "lr": 1e-2}, {"params": p[1:]}], lr=0.1),
}

SCHEDULES: dict[str, Make] = {
    "step": lambda s, o: s.StepLR(o, 3, 0.5),
    "multi-step": lambda s, o: s.MultiStepLR(o, [2, 5, 5], 0.5),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "constant": lambda s, o: s.ConstantLR(o, 0.5, 4),
    "linear": lambda s, o: s.LinearLR(o, 0.1, 0.9, 5),
    "polynomial": lambda s, o: s.PolynomialLR(o, 7, 2.0),
    "lambda": lambda s, o: s.LambdaLR(o, lambda step: 1 / (1 + step)),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda step: 0.95),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 4, 0.01),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2),
    "one-cycle": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=12),
    "three-phase": lambda s, o: s.OneCycleLR(
        o, 0.5, epochs=3, steps_per_epoch=4, three_phase=True, anneal_strategy="linear"
    ),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 3, mode="triangular2"),
    "sequential": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)], [4]
    ),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.5, 3), s.ExponentialLR(o, 0.9)]),
}


@pytest.fixture
def pytorch() -> Any:
    return pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")


@pytest.mark.torch
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_pytorchs(name: str, pytorch: Any) -> None:
    analytic, shown = trained(engine, OPTIMIZERS[name])
    wanted, shown_there = trained(pytorch, OPTIMIZERS[name])
    np.testing.assert_allclose(analytic, wanted, rtol=1e-10, atol=1e-12)
    assert shown == shown_there


def trained(torch: Any, make: Make) -> tuple[list[float], str]:
    """The losses of some steps on a valley with a bend, and where they lead."""
    x = torch.tensor([-1.0, 0.5], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[1.5]], dtype=torch.float64, requires_grad=True)
    unused = torch.zeros(2, requires_grad=True)
    optimizer = make(torch.optim, [x, y, unused])

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((1 - x) ** 2).sum() + 3 * (y - x**2).square().mean() + 0.1 * x.prod()
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(8)]
    return [*losses, *x.tolist(), *y.flatten().tolist()], repr(optimizer)


@pytest.mark.torch
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_pytorchs(name: str, pytorch: Any) -> None:
    for each, wanted in zip(
        scheduled(engine, SCHEDULES[name]), scheduled(pytorch, SCHEDULES[name]), strict=True
    ):
        assert each == pytest.approx(wanted, rel=1e-12)


def scheduled(torch: Any, make: Make) -> list[list[float]]:
    """Learning rate and momentum at each step."""
    p = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    schedule = make(torch.optim.lr_scheduler, optimizer)
    rates = []
    for _ in range(11):
        group = optimizer.param_groups[0]
        rates.append([group["lr"], group["momentum"], *schedule.get_last_lr()])
        optimizer.step()
        schedule.step()
    return rates


def test_plateau_lowers_the_rate_where_nothing_improves(torch: Any) -> None:
    p = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=1.0)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    rates = []
    for metric in (3.0, 2.0, torch.tensor(2.0), 2.0, 1.0, 1.0, 1.0, 1.0):
        schedule.step(metric)
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25]


def test_state_goes_on_where_it_was_saved(torch: Any) -> None:
    def steps(optimizer: Any, p: Any, count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            (p**2).sum().backward()
            optimizer.step()

    p = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.Adam([p], lr=0.1)
    steps(optimizer, p, 3)
    saved = optimizer.state_dict()
    assert saved["param_groups"][0]["params"] == [0]
    assert saved["state"][0]["step"] == 3
    other = p.detach().clone().requires_grad_()
    resumed = torch.optim.Adam([other], lr=0.5)
    resumed.load_state_dict(deepcopy(saved))
    steps(optimizer, p, 2)
    steps(resumed, other, 2)
    assert torch.equal(p, other)


def test_own_optimizers_step_between_hooks(torch: Any) -> None:
    class Descent(torch.optim.Optimizer):  # type: ignore[misc] # of either engine
        def __init__(self, params: Any, lr: float) -> None:
            super().__init__(params, {"lr": lr})

        @torch.no_grad()  # type: ignore[untyped-decorator] # of either engine
        def step(self) -> None:
            for group in self.param_groups:
                for each in group["params"]:
                    each -= group["lr"] * each.grad

    p = torch.tensor([1.0], requires_grad=True)
    optimizer = Descent([p], 0.5)
    told = []
    optimizer.register_step_pre_hook(lambda *_: told.append("before"))
    optimizer.register_step_post_hook(lambda *_: told.append("after"))
    (p * 3).sum().backward()
    optimizer.step()
    assert (p.item(), told) == (-0.5, ["before", "after"])


REFUSED: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda t: t.optim.SGD([], 0.1), ValueError, "optimizer got an empty parameter list"),
    (lambda t: t.optim.SGD([1.0], 0.1), TypeError, "one of the params is float"),
    (lambda t: t.optim.SGD(t.zeros(1), 0.1), TypeError, "an iterable of Tensors or dicts"),
    (lambda t: t.optim.SGD([leaf(t) * 2], 0.1), ValueError, "can't optimize a non-leaf Tensor"),
    (lambda t: t.optim.SGD([leaf(t)], -1), ValueError, "Invalid learning rate: -1"),
    (lambda t: t.optim.Adam([leaf(t)], betas=(2, 0.9)), ValueError, "parameter at index 0: 2"),
    (lambda t: t.optim.Adam([leaf(t)], eps=-1), ValueError, "Invalid epsilon value: -1"),
    (lambda t: t.optim.SGD([leaf(t)], 0.1, nesterov=True), ValueError, "Nesterov momentum"),
    (lambda t: t.optim.SGD({leaf(t)}, 0.1).add_param_group(3), TypeError, "must be a dict"),
    (
        lambda t: (lambda p: t.optim.SGD([{"params": [p]}, {"params": [p]}], 0.1))(leaf(t)),
        ValueError,
        "more than one parameter group",
    ),
    (
        lambda t: t.optim.lr_scheduler.StepLR(3, 1),
        TypeError,
        "int is not an Optimizer",
    ),
]


def leaf(torch: Any) -> Any:
    return torch.zeros(2, requires_grad=True)


@pytest.mark.parametrize(("misuse", "error", "message"), REFUSED)
def test_misuse_is_refused(
    torch: Any, misuse: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        misuse(torch)

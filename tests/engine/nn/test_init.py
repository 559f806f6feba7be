"""First values have the spread that the papers ask for."""

from __future__ import annotations

import math

import pytest

import gradtool.engine as torch
from gradtool.engine import nn
from gradtool.engine.nn import init


@pytest.fixture
def weight() -> nn.Parameter:
    torch.manual_seed(0)
    return nn.Parameter(torch.empty(200, 300, dtype=torch.float64))


def test_constants(weight: nn.Parameter) -> None:
    assert init.zeros_(weight) is weight
    assert weight.abs().max().item() == 0
    assert init.ones_(weight).min().item() == 1
    assert init.constant_(weight, 2.5).mean().item() == 2.5
    assert init.eye_(weight).sum().item() == 200
    assert weight.is_leaf
    with pytest.raises(ValueError, match="2 dimensions"):
        init.eye_(torch.empty(3))


@pytest.mark.parametrize(
    ("fill", "std"),
    [
        (lambda w: init.uniform_(w, -3, 3), math.sqrt(3)),
        (lambda w: init.normal_(w, 0, 2), 2),
        (init.xavier_uniform_, math.sqrt(2 / 500)),
        (lambda w: init.xavier_normal_(w, gain=3), 3 * math.sqrt(2 / 500)),
        (init.kaiming_uniform_, math.sqrt(2 / 300)),
        (
            lambda w: init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"),
            math.sqrt(2 / 200),
        ),
        (lambda w: init.kaiming_normal_(w, a=math.sqrt(5)), math.sqrt(2 / 6 / 300)),
    ],
)
def test_spread(weight: nn.Parameter, fill: object, std: float) -> None:
    fill(weight)  # type: ignore[operator]
    assert weight.std().item() == pytest.approx(std, rel=0.02)
    assert abs(weight.mean().item()) < 0.03 * std


def test_misuse() -> None:
    with pytest.raises(ValueError, match="Unsupported nonlinearity nope"):
        init.calculate_gain("nope")
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.xavier_normal_(torch.empty(3))
    with pytest.raises(ValueError, match="Mode nope not supported"):
        init.kaiming_normal_(torch.empty(3, 3), mode="nope")


@pytest.mark.torch
@pytest.mark.parametrize("name", ["linear", "sigmoid", "tanh", "relu", "selu", "leaky_relu"])
def test_gain_is_torchs(name: str) -> None:
    real = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert init.calculate_gain(name) == real.nn.init.calculate_gain(name)
    assert init.calculate_gain(name, 0.2) == real.nn.init.calculate_gain(name, 0.2)

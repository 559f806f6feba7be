"""``nn.functional`` computes what torch's does."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import pytest

import gradtool.engine as engine


def values(torch: ModuleType) -> list[Any]:
    functional = torch.nn.functional
    x = torch.arange(12, dtype=torch.float64).reshape(2, 2, 3) * 0.3 - 1.5
    weight = torch.arange(6, dtype=torch.float64).reshape(2, 3).cos()
    bias = torch.tensor([0.5, -1.0], dtype=torch.float64)
    return [
        functional.linear(x, weight),
        functional.linear(x, weight, bias),
        functional.linear(x[0, 0], weight, bias),
        functional.linear(x, weight[0]),
        functional.relu(x),
        functional.relu(x.clone(), inplace=True),
        functional.relu_(x.clone()),
        functional.sigmoid(x),
        functional.tanh(x),
        functional.softmax(x, dim=1),
        functional.softmax(x.long(), -1, dtype=torch.float64),
        functional.log_softmax(x, 2),
    ]


@pytest.mark.torch
def test_functions_are_torchs() -> None:
    real = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    for ours, theirs in zip(values(engine), values(real), strict=True):
        assert ours.shape == theirs.shape
        assert abs(ours.numpy() - theirs.numpy()).max() <= 1e-14


def test_relu_in_place_writes_over_its_input() -> None:
    x = engine.tensor([-1.0, 2.0])
    assert engine.nn.functional.relu(x, inplace=True) is x
    assert x.tolist() == [0.0, 2.0]


@pytest.mark.parametrize("mapped", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize("name", ["conv2d", "conv_transpose2d"])
def test_convolutions_of_a_batch_are_those_of_its_examples(name: str, mapped: Any) -> None:
    convolve = getattr(engine.nn.functional, name)
    engine.manual_seed(0)
    inputs, weights = engine.randn(3, 2, 4, 5, 5), engine.randn(3, 4, 2, 3, 3)

    def steepness(x: Any, weight: Any) -> Any:
        return engine.func.grad(
            lambda x, weight: convolve(x, weight, stride=2, padding=1, groups=2).cos().sum(), (0, 1)
        )(x, weight)

    chosen = [
        each if at == 0 else each[0] for each, at in zip((inputs, weights), mapped, strict=True)
    ]
    together = engine.vmap(steepness, mapped)(*chosen)
    for example in range(3):
        one = [each[example] if at == 0 else each for each, at in zip(chosen, mapped, strict=True)]
        for found, expected in zip(together, steepness(*one), strict=True):
            assert engine.allclose(found[example], expected, atol=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda f, x: f.leaky_relu_(x, -2),
        lambda f, x: f.leaky_relu(x, -2, inplace=True),
        lambda f, x: f.rrelu_(x, -5.0, 1.0),
        lambda f, x: f.elu_(x, alpha=-2),
        lambda f, x: f.celu_(x, alpha=-2),
    ],
)
def test_an_in_place_change_that_loses_the_sign_has_no_gradient(torch: Any, change: Any) -> None:
    out = change(torch.nn.functional, torch.tensor([-1.0, 1.0], requires_grad=True).clone())
    with pytest.raises(RuntimeError, match="please call out-of-place version instead"):
        out.sum().backward()


def test_an_in_place_change_with_a_slope_of_zero_has_a_gradient(torch: Any) -> None:
    x = torch.tensor([-2.0, 0.0, 2.0], requires_grad=True)
    torch.nn.functional.leaky_relu_(x.clone(), 0.0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("name", ["elu", "selu", "celu"])
def test_the_slope_of_elu_keeps_its_digits_and_is_constant_at_zero(torch: Any, name: str) -> None:
    points = [-50.0, -2.0, 0.0, 3.0, float("nan")]
    x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    out = getattr(torch.nn.functional, name)(x)
    (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    assert slope[0].item() == pytest.approx(slope[1].item() * math.exp(-48), rel=1e-12)
    assert slope[4].item() == slope[3].item()
    assert second[2:].tolist() == [0, 0, 0]
    assert second[:2].tolist() == pytest.approx(slope[:2].tolist())


@pytest.mark.parametrize(("short", "name"), [(0, "query"), (1, "key"), (2, "value")])
def test_attention_needs_two_dims_of_each_tensor(short: int, name: str) -> None:
    tensors = [engine.ones(4) if at == short else engine.ones(2, 4) for at in range(3)]
    with pytest.raises(RuntimeError, match=rf"at least 2 dimensional.*{name}\.dim: 1"):
        engine.nn.functional.scaled_dot_product_attention(*tensors)

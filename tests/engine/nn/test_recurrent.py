"""Recurrent Modules with the state of torch's compute what torch's do, with their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

Build = Callable[[Any], Any]

CELLS: dict[str, Build] = {
    "rnn": lambda nn: nn.RNNCell(3, 4),
    "rnn of rectified sums": lambda nn: nn.RNNCell(3, 4, nonlinearity="relu"),
    "lstm": lambda nn: nn.LSTMCell(3, 4, bias=False),
    "gru": lambda nn: nn.GRUCell(3, 4),
}
NETWORKS: dict[str, tuple[Build, tuple[int, ...]]] = {
    "rnn": (lambda nn: nn.RNN(3, 4, 2), (5, 2, 3)),
    "rnn of rectified sums": (lambda nn: nn.RNN(3, 4, nonlinearity="relu"), (5, 2, 3)),
    "lstm": (lambda nn: nn.LSTM(3, 4, num_layers=2, bidirectional=True), (5, 2, 3)),
    "lstm, batch first": (lambda nn: nn.LSTM(3, 4, batch_first=True, bias=False), (2, 5, 3)),
    "gru": (lambda nn: nn.GRU(3, 4, 2, bidirectional=True, batch_first=True), (2, 5, 3)),
    "gru of one sequence": (lambda nn: nn.GRU(3, 4), (5, 3)),
}


def of_torch(build: Build) -> list[tuple[Any, Any]]:
    """(module, its tensor library), ours with the state of torch's."""
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    ours, theirs = build(engine.nn).double(), build(torch.nn).double()
    state = {key: engine.tensor(value.numpy()) for key, value in theirs.state_dict().items()}
    ours.load_state_dict(state)
    assert repr(ours) == repr(theirs)
    return [(ours, engine), (theirs, torch)]


def leaves(nested: Any) -> list[Any]:
    if isinstance(nested, tuple):
        return [leaf for each in nested for leaf in leaves(each)]
    return [nested]


def computed(module: Any, t: Any, *arrays: Any) -> list[Any]:
    """Outputs, and the gradients of inputs and parameters of a sum of their squares."""
    inputs = [t.tensor(array, requires_grad=True) for array in arrays]
    state = () if len(inputs) < 2 else (inputs[1] if len(inputs) == 2 else tuple(inputs[1:]),)
    outputs = leaves(module(inputs[0], *state))
    total = sum((each * each).sum() for each in outputs)
    gradients = t.autograd.grad(total, [*inputs, *module.parameters()])
    return [each.detach().numpy() for each in (*outputs, *gradients)]


def compare(pairs: list[tuple[Any, Any]], *arrays: Any) -> None:
    ours, theirs = [computed(module, t, *arrays) for module, t in pairs]
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.torch
@pytest.mark.parametrize("name", CELLS)
def test_cells_compute_what_torchs_do(name: str) -> None:
    pairs, rng = of_torch(CELLS[name]), np.random.default_rng(0)
    compare(pairs, rng.standard_normal((2, 3)))
    compare(pairs, rng.standard_normal(3))
    count = 2 if name == "lstm" else 1
    compare(pairs, *[rng.standard_normal((2, size)) for size in (3, 4, 4)[: count + 1]])


@pytest.mark.torch
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_compute_what_torchs_do(name: str) -> None:
    build, shape = NETWORKS[name]
    compare(of_torch(build), np.random.default_rng(0).standard_normal(shape))


@pytest.mark.torch
def test_the_first_state_is_taken() -> None:
    rng = np.random.default_rng(0)
    state = rng.standard_normal((2, 2, 4)), rng.standard_normal((2, 2, 4))
    compare(of_torch(lambda nn: nn.LSTM(3, 4, 2)), rng.standard_normal((5, 2, 3)), *state)


def test_inputs_of_other_shapes_are_refused() -> None:
    network = engine.nn.GRU(3, 4)
    with pytest.raises(ValueError, match="GRU: Expected input to be 2D or 3D, got 1D instead"):
        network(engine.ones(3))
    with pytest.raises(RuntimeError, match="Expected 3, got 5"):
        network(engine.ones(2, 1, 5))

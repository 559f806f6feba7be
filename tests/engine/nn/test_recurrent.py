"""Recurrent networks, their cells, and packed sequences are PyTorch's."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine
from tests.engine.nn.sides import assert_same


@pytest.mark.torch
@pytest.mark.parametrize("seed", range(24))
def test_networks_of_random_settings_agree(seed: int) -> None:
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    kind = ("RNN", "LSTM", "GRU")[seed % 3]
    inner, layers, batch, steps = (draw.randint(2, 4) for _ in range(4))
    settings: dict[str, Any] = {
        name: draw.random() < 0.5 for name in ("bias", "batch_first", "bidirectional")
    }
    if layers > 2:
        settings["dropout"] = 0.4
    if kind == "RNN":
        settings["nonlinearity"] = draw.choice(["tanh", "relu"])
    if kind == "LSTM" and draw.random() < 0.5:
        settings["proj_size"] = inner - 1
    first = settings["batch_first"]
    x0 = rng.normal(size=(batch, steps, 3) if first else (steps, batch, 3))
    lengths = [draw.randint(1, steps) for _ in range(batch)] if draw.random() < 0.5 else None
    rows = layers * (1 + settings["bidirectional"])
    shown = settings.get("proj_size", inner)
    states0 = [rng.normal(size=(rows, batch, size)) for size in (shown, inner)]

    def compute(t: Any) -> Any:
        network = getattr(t.nn, kind)(3, inner, layers, dtype=t.float64, **settings)
        x = t.tensor(x0, requires_grad=True)
        states = [t.tensor(each, requires_grad=True) for each in states0]
        tools = t.nn.utils.rnn
        fed = x if lengths is None else tools.pack_padded_sequence(x, lengths, first, False)
        out, last = network(fed, tuple(states) if kind == "LSTM" else states[0])
        out = out if lengths is None else tools.pad_packed_sequence(out, first)[0]
        return network, [x, *states], [out, *(last if kind == "LSTM" else [last])]

    assert_same(compute, seed)


@pytest.mark.torch
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("name", ["RNNCell", "LSTMCell", "GRUCell"])
def test_cells_agree(name: str, rank: int) -> None:
    x0 = np.random.default_rng(0).normal(size=(2, 3)[2 - rank :])

    def compute(t: Any) -> Any:
        cell = getattr(t.nn, name)(3, 4, dtype=t.float64)
        x = t.tensor(x0, requires_grad=True)
        state = cell(x, cell(2 * x))
        return cell, [x], state if isinstance(state, tuple) else [state]

    assert_same(compute, rank)


SEQUENCES = """
    r.pad_sequence([t.ones(2, 2), 2 * t.ones(3, 2)], padding_value=-1.0)
    r.pad_sequence([t.ones(2), 2 * t.ones(3)], batch_first=True, padding_side="left")
    r.pad_sequence([])
    r.pad_sequence([t.ones(2)], padding_side="up")
    r.pack_sequence([t.arange(2.0), t.arange(3.0)], enforce_sorted=False).data
    r.pack_sequence([t.arange(2.0), t.arange(3.0)], enforce_sorted=False).batch_sizes
    r.pack_sequence([t.arange(2.0), t.arange(3.0)], enforce_sorted=False).unsorted_indices
    r.pack_sequence([t.arange(2.0), t.arange(3.0)])
    r.pack_padded_sequence(t.ones(3, 2), [3])
    r.pack_padded_sequence(t.ones(3, 2), [3, 0])
    r.pad_packed_sequence(r.pack_sequence([t.arange(3.0), t.arange(2.0)]), True, 9.0, 4)[0]
    r.pad_packed_sequence(r.pack_sequence([t.arange(3.0), t.arange(2.0)]), total_length=2)
    r.unpad_sequence(t.arange(6.0).reshape(3, 2).clone(), t.tensor([3, 1]))[1]
    r.unpack_sequence(r.pack_sequence([t.arange(3.0), t.arange(2.0)]))[1]
    r.pack_sequence([t.arange(3.0)]).double().data
    t.nn.RNN(2, 3)(t.ones(2, 1, 3))
    t.nn.RNN(2, 3)(t.ones(2, 1, 2, 3))
    t.nn.LSTM(2, 3)(t.ones(2, 1, 2), (t.ones(1, 1, 3), t.ones(1, 1, 4)))
    t.nn.LSTM(2, 3)(t.ones(2, 2), (t.ones(1, 1, 3), t.ones(1, 3)))
    t.nn.GRU(2, 3)(t.ones(2, 1, 2).double())
    t.nn.GRU(2, 3)(t.ones(0, 1, 2))
    t.nn.GRU(2, 3)(t.ones(2, 1, 2), t.ones(1, 3))
    t.nn.GRU(2, 3, proj_size=1)
    t.nn.RNN(2, 3, nonlinearity="sin")
    t.nn.LSTM(2, 3, proj_size=3)
    t.nn.LSTM(0, 3)
    t.nn.LSTM(2, 3, dropout=2)
    t.nn.LSTM(2, 3, bias=1)
    t.nn.LSTMCell(2, 3)(t.ones(1, 1, 2))
    t.nn.GRUCell(2, 3)(t.ones(1, 3))
    t.nn.GRUCell(2, 3)(t.ones(1, 2), t.ones(2, 3))
    t.nn.GRUCell(2, 3)(t.ones(1, 2), t.ones(1, 4))
"""


@pytest.mark.torch
@pytest.mark.parametrize("call", [each.strip() for each in SEQUENCES.strip().splitlines()])
def test_sequences_are_packed_and_refused_alike(call: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    ours, theirs = answer(call, engine), answer(call, torch)
    if isinstance(theirs, Exception):
        assert (type(ours), str(ours)) == (type(theirs), str(theirs))
    else:
        assert (ours.tolist(), str(ours.dtype)) == (theirs.tolist(), str(theirs.dtype))


def answer(call: str, t: Any) -> Any:
    try:
        return eval(call, {"t": t, "r": t.nn.utils.rnn})
    except Exception as error:
        return error


def test_a_network_without_a_batch_is_that_of_a_batch_of_one() -> None:
    network = engine.nn.GRU(2, 3, num_layers=2, bidirectional=True)
    x = engine.arange(8.0).reshape(4, 2)
    alone, last = network(x)
    batch, last_of_batch = network(x.unsqueeze(1))
    assert alone.tolist() == batch.squeeze(1).tolist()
    assert last.tolist() == last_of_batch.squeeze(1).tolist()

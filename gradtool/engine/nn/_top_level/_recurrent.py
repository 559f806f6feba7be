"""Recurrent networks: layers over time, forth and back, and their single steps.

A sequence is a list of steps, each with the rows of the batch that have not ended: all of them for
a padded batch, ever fewer for a packed one, whose longest sequences come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradtool.engine._ops.elementwise.elementwise import relu, sigmoid, tanh
from gradtool.engine._ops.linalg.linalg import matmul
from gradtool.engine._ops.shape.joining import cat, stack
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional import dropout, linear

States = tuple[Tensor, ...]
"""The hidden state, and of an LSTM the cell state too, each (rows, features)."""


class Weights(NamedTuple):
    """Weights of one direction of a layer."""

    input: Tensor
    hidden: Tensor
    input_bias: Tensor | None = None
    hidden_bias: Tensor | None = None
    projection: Tensor | None = None


class Cell(NamedTuple):
    """A kind of network: a step from gates and states to new states."""

    step: Callable[[Tensor, States, Tensor, Weights], States]
    """Take the gates of the input, the states, the transposed hidden weight, and the weights."""
    adds_biases: bool
    """Whether the hidden bias is just added to the input's, so that both are added in advance."""
    states: int


# ---- steps ----------------------------------------------------------------------------------


def _plain(activation: Callable[[Tensor], Tensor]) -> Cell:
    def step(gates: Tensor, states: States, hidden: Tensor, _weights: Weights) -> States:
        return (activation(gates + matmul(states[0], hidden)),)

    return Cell(step, adds_biases=True, states=1)


def _lstm_step(gates: Tensor, states: States, hidden: Tensor, weights: Weights) -> States:
    before, cell = states
    into, forget, new, out = (gates + matmul(before, hidden)).chunk(4, -1)
    cell = sigmoid(forget) * cell + sigmoid(into) * tanh(new)
    shown = sigmoid(out) * tanh(cell)
    return (shown if weights.projection is None else linear(shown, weights.projection)), cell


def _gru_step(gates: Tensor, states: States, hidden: Tensor, weights: Weights) -> States:
    before = states[0]
    own = matmul(before, hidden)
    if weights.hidden_bias is not None:
        own = own + weights.hidden_bias
    reset, update, new = gates.chunk(3, -1)
    own_reset, own_update, own_new = own.chunk(3, -1)
    fresh = tanh(new + sigmoid(reset + own_reset) * own_new)
    return ((before - fresh) * sigmoid(update + own_update) + fresh,)


TANH, RELU = _plain(tanh), _plain(relu)
LSTM = Cell(_lstm_step, adds_biases=True, states=2)
GRU = Cell(_gru_step, adds_biases=False, states=1)


# ---- over time ------------------------------------------------------------------------------


def _gates(cell: Cell, data: Tensor, weights: Weights) -> Tensor:
    """Gates of all inputs, as far as they do not depend on the states."""
    bias = weights.input_bias
    if bias is not None and cell.adds_biases:
        bias = bias + weights.hidden_bias
    return linear(data, weights.input, bias)


def _forth(cell: Cell, steps: Sequence[Tensor], states: States, weights: Weights) -> Any:
    """Run from the first step to the last; rows that end keep their states."""
    hidden, outputs, ended = weights.hidden.t(), [], []
    for gates in steps:
        rows = gates.shape[0]
        if rows < states[0].shape[0]:
            ended.append([each[rows:] for each in states])
            states = tuple([each[:rows] for each in states])
        states = cell.step(gates, states, hidden, weights)
        outputs.append(states[0])
    if ended:
        last_first = ended[::-1]
        states = tuple([cat([each, *rest]) for each, *rest in zip(states, *last_first)])
    return outputs, states


def _back(cell: Cell, steps: Sequence[Tensor], states: States, weights: Weights) -> Any:
    """Run from the last step to the first; rows begin where they end."""
    hidden, outputs, initial = weights.hidden.t(), [], states
    states = tuple([each[: steps[-1].shape[0]] for each in initial])
    for gates in reversed(steps):
        have, rows = states[0].shape[0], gates.shape[0]
        if rows > have:
            joining = [each[have:rows] for each in initial]
            states = tuple([cat(pair) for pair in zip(states, joining)])
        states = cell.step(gates, states, hidden, weights)
        outputs.append(states[0])
    return outputs[::-1], states


Split = Callable[[Tensor], Sequence[Tensor]]
Join = Callable[[Sequence[Tensor]], Tensor]


class _Network(NamedTuple):
    """Options and weights that all layers share."""

    cell: Cell
    split: Split
    join: Join
    weights: list[Weights]
    directions: int
    dropout: float

    def run(self, data: Tensor, states: States) -> tuple[Tensor, States]:
        """Return the last layer's outputs, and each state stacked over layers and directions."""
        final: list[States] = []
        for first in range(0, len(self.weights), self.directions):
            outputs = []
            for at, go in zip(range(first, first + self.directions), (_forth, _back)):
                weights = self.weights[at]
                steps = self.split(_gates(self.cell, data, weights))
                each, last = go(self.cell, steps, tuple([x[at] for x in states]), weights)
                outputs.append(self.join(each))
                final.append(last)
            data = outputs[0] if self.directions == 1 else cat(outputs, -1)
            if self.dropout and first + self.directions < len(self.weights):
                data = dropout(data, self.dropout)
        return data, tuple([stack(each) for each in zip(*final)])


def _grouped(params: Sequence[Tensor], biased: bool, projected: bool) -> list[Weights]:
    size = 2 + 2 * biased + projected
    groups = [params[at : at + size] for at in range(0, len(params), size)]
    return [
        Weights(
            *group[: size - projected],
            **({"projection": group[-1]} if projected else {}),
        )
        for group in groups
    ]


def _recurrent(name: str, cell: Cell) -> Callable[..., Any]:
    def padded(
        input: Tensor,
        states: States,
        weights: list[Weights],
        directions: int,
        dropped: float,
        batch_first: bool,
    ) -> tuple[Tensor, ...]:
        data = input.transpose(0, 1) if batch_first else input
        if not data.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        network = _Network(cell, lambda x: x.unbind(0), stack, weights, directions, dropped)
        out, final = network.run(data, states)
        return (out.transpose(0, 1) if batch_first else out, *final)

    def packed(
        data: Tensor, sizes: Tensor, states: States, weights: list[Weights], directions: int,
        dropped: float,
    ) -> tuple[Tensor, ...]:  # fmt: skip
        rows = sizes.tolist()
        network = _Network(cell, lambda x: x.split(rows), cat, weights, directions, dropped)
        out, final = network.run(data, states)
        return (out, *final)

    def function(
        input: Tensor,
        *args: Any,
        **named: Any,
    ) -> tuple[Tensor, ...]:
        names = ["hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional"]
        is_packed = isinstance(args[0] if cell.states == 2 else args[1], Tensor)
        names = ["batch_sizes", *names] if is_packed else [*names, "batch_first"]
        given = {**dict(zip(names, args)), **named}
        states = given["hx"] if cell.states == 2 else (given["hx"],)
        params = given["params"]
        directions = 2 if given["bidirectional"] else 1
        count = given["num_layers"] * directions
        projected = len(params) > count * (2 + 2 * given["has_biases"])
        weights = _grouped(params, given["has_biases"], projected)
        dropped = given["dropout"] if given["train"] else 0.0
        common = (tuple(states), weights, directions, dropped)
        if is_packed:
            return packed(input, given["batch_sizes"], *common)
        return padded(input, *common, given["batch_first"])

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return the outputs of all steps and the last states of ``nn`` networks.

    Called as ``{name}(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
    batch_first)``, or for a packed sequence with ``batch_sizes`` after the input and without
    ``batch_first``.

    Raises:
        RuntimeError: a sequence has no steps.
    """
    return function


rnn_tanh, rnn_relu = _recurrent("rnn_tanh", TANH), _recurrent("rnn_relu", RELU)
lstm, gru = _recurrent("lstm", LSTM), _recurrent("gru", GRU)


# ---- one step -------------------------------------------------------------------------------


def _one_step(name: str, cell: Cell) -> Callable[..., Any]:
    def function(
        input: Tensor,
        hx: Any,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None = None,
        b_hh: Tensor | None = None,
    ) -> Any:
        states = tuple(hx) if cell.states == 2 else (hx,)
        _check_step(input, states, w_ih, w_hh)
        weights = Weights(w_ih, w_hh, b_ih, b_hh)
        new = cell.step(_gates(cell, input, weights), states, w_hh.t(), weights)
        return new if cell.states == 2 else new[0]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = """Return the states after one step.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return function


def _check_step(input: Tensor, states: States, w_ih: Tensor, w_hh: Tensor) -> None:
    if input.shape[1] != w_ih.shape[1]:
        raise RuntimeError(
            f"input has inconsistent input_size: got {input.shape[1]} expected {w_ih.shape[1]}"
        )
    for label, each in enumerate(states):
        if input.shape[0] != each.shape[0]:
            raise RuntimeError(
                f"Input batch size {input.shape[0]} doesn't match hidden{label} batch size "
                f"{each.shape[0]}"
            )
        if each.shape[1] != w_hh.shape[1]:
            raise RuntimeError(
                f"hidden{label} has inconsistent hidden_size: got {each.shape[1]}, expected "
                f"{w_hh.shape[1]}"
            )


rnn_tanh_cell = _one_step("rnn_tanh_cell", TANH)
rnn_relu_cell = _one_step("rnn_relu_cell", RELU)
lstm_cell, gru_cell = _one_step("lstm_cell", LSTM), _one_step("gru_cell", GRU)

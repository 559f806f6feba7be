"""Recurrent Modules: one step of a cell, and cells along sequences in layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._ops.elementwise.elementwise import relu, sigmoid, tanh
from gradtool.engine._ops.shape.joining import cat, stack
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional, init
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter

State = tuple[Tensor, ...]
Step = Callable[[Tensor, Tensor, State], State]
"""(input times weights, hidden times weights, state) -> the next state, hidden first."""

# ---- one step -------------------------------------------------------------------------------


def _elman(activation: Callable[[Tensor], Tensor]) -> Step:
    return lambda of_input, of_hidden, _state: (activation(of_input + of_hidden),)


def _lstm(of_input: Tensor, of_hidden: Tensor, state: State) -> State:
    """Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997, with a forget gate."""
    enter, forget, new, leave = (of_input + of_hidden).chunk(4, -1)
    cell = sigmoid(forget) * state[1] + sigmoid(enter) * tanh(new)
    return sigmoid(leave) * tanh(cell), cell


def _gru(of_input: Tensor, of_hidden: Tensor, state: State) -> State:
    """Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014."""
    reset_x, keep_x, new_x = of_input.chunk(3, -1)
    reset_h, keep_h, new_h = of_hidden.chunk(3, -1)
    keep = sigmoid(keep_x + keep_h)
    new = tanh(new_x + sigmoid(reset_x + reset_h) * new_h)
    return ((1 - keep) * new + keep * state[0],)


_STEPS: dict[str, tuple[Step, int, int]] = {
    "tanh": (_elman(tanh), 1, 1), "relu": (_elman(relu), 1, 1), "lstm": (_lstm, 4, 2),
    "gru": (_gru, 3, 1),
}  # fmt: skip
"""Kind -> its step, the number of its gates, and of the tensors in its state."""


def _draw(module: Module, hidden_size: int) -> None:
    bound = 1 / math.sqrt(hidden_size) if hidden_size > 0 else 0.0
    for parameter in module.parameters():
        init.uniform_(parameter, -bound, bound)


# ---- cells ----------------------------------------------------------------------------------


class RNNCellBase(Module):
    """What all cells have: a weight and a bias for the input, and for the hidden state."""

    kind: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = _STEPS[self.kind][1] * hidden_size
        for name, shape in (
            ("weight_ih", (rows, input_size)), ("weight_hh", (rows, hidden_size)),
            ("bias_ih", (rows,)), ("bias_hh", (rows,)),
        ):  # fmt: skip
            own = bias or name.startswith("weight")
            made = Parameter(empty(*shape, device=device, dtype=dtype)) if own else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all uniformly from ±1/√hidden_size."""
        _draw(self, self.hidden_size)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The state after an input (N, input_size) or (input_size,); zeros before the first."""
        if input.ndim not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.ndim}D instead"
            )
        step, _, count = _STEPS[self.kind]
        if hx is None:
            hx = (input.new_zeros((*input.shape[:-1], self.hidden_size)),) * count
        state = tuple(hx) if isinstance(hx, tuple | list) else (hx,)
        of_input = functional.linear(input, self.weight_ih, self.bias_ih)
        of_hidden = functional.linear(state[0], self.weight_hh, self.bias_hh)
        after = step(of_input, of_hidden, state)
        return after if count > 1 else after[0]

    def extra_repr(self) -> str:
        """The extents."""
        shown = f"{self.input_size}, {self.hidden_size}"
        return shown if self.bias else f"{shown}, bias={self.bias}"


class RNNCell(RNNCellBase):
    """``nonlinearity(weight_ih @ input + bias_ih + weight_hh @ hidden + bias_hh)``."""

    kind = "tanh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.kind = self.nonlinearity = nonlinearity

    def extra_repr(self) -> str:
        """The extents, and what is not as usual."""
        shown = super().extra_repr()
        usual = self.nonlinearity == "tanh"
        return shown if usual else f"{shown}, nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    """A step of long short-term memory: (hidden, cell) from an input and (hidden, cell)."""

    kind = "lstm"


class GRUCell(RNNCellBase):
    """A step of a gated recurrent unit."""

    kind = "gru"


# ---- along sequences ------------------------------------------------------------------------


class RNNBase(Module):
    """Layers of cells along sequences (L, N, input_size), one way or both."""

    kind = "tanh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if hidden_size <= 0 or num_layers <= 0:
            raise ValueError("hidden_size and num_layers must be greater than zero")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional = bidirectional
        rows = _STEPS[self.kind][1] * hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else hidden_size * self._ways
            shapes: list[tuple[str, tuple[int, ...]]] = [
                ("weight_ih", (rows, width)), ("weight_hh", (rows, hidden_size))
            ]  # fmt: skip
            shapes += [("bias_ih", (rows,)), ("bias_hh", (rows,))] if bias else []
            for suffix in self._suffixes(layer):
                for name, shape in shapes:
                    made = Parameter(empty(*shape, device=device, dtype=dtype))
                    self.register_parameter(name + suffix, made)
        self.reset_parameters()

    @property
    def _ways(self) -> int:
        return 2 if self.bidirectional else 1

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: self._ways]

    def reset_parameters(self) -> None:
        """Draw all uniformly from ±1/√hidden_size."""
        _draw(self, self.hidden_size)

    def flatten_parameters(self) -> None:
        """Nothing: that is about memory on a GPU."""

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """(the last layer's outputs, the last state of every layer and way).

        Args:
            input: Of shape (L, N, input_size), (N, L, …) with `batch_first`, or (L, input_size).
            hx: The first states, (layers * ways, N, hidden_size) each; zeros unless given.

        Raises:
            ValueError: the input has another number of dimensions, or another last extent.
        """
        self._check(input)
        alone = input.ndim == 2
        steps = input.unsqueeze(1) if alone else input
        if self.batch_first and not alone:
            steps = steps.transpose(0, 1)
        out, state = self._through_layers(steps, self._first(steps, hx, alone))
        if alone:
            out, state = out.squeeze(1), tuple([each.squeeze(1) for each in state])
        elif self.batch_first:
            out = out.transpose(0, 1)
        return out, (state if len(state) > 1 else state[0])

    def _check(self, input: Tensor) -> None:
        name = type(self).__name__
        if input.ndim not in (2, 3):
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {input.ndim}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.shape[-1]}"
            )

    def _first(self, steps: Tensor, hx: Any, alone: bool) -> State:
        count = _STEPS[self.kind][2]
        if hx is None:
            shape = (self.num_layers * self._ways, steps.shape[1], self.hidden_size)
            return (steps.new_zeros(shape),) * count
        given = tuple(hx) if isinstance(hx, tuple | list) else (hx,)
        return tuple([each.unsqueeze(1) for each in given]) if alone else given

    def _through_layers(self, steps: Tensor, first: State) -> tuple[Tensor, State]:
        last: list[State] = []
        for layer in range(self.num_layers):
            outs = []
            for way, suffix in enumerate(self._suffixes(layer)):
                state = tuple([each[layer * self._ways + way] for each in first])
                out, after = self._along(steps, state, suffix, backwards=way == 1)
                outs.append(out)
                last.append(after)
            steps = cat(outs, -1) if len(outs) > 1 else outs[0]
            if self.dropout and layer < self.num_layers - 1:
                steps = functional.dropout(steps, self.dropout, self.training)
        return steps, tuple([stack(each) for each in zip(*last, strict=True)])

    def _along(
        self, steps: Tensor, state: State, suffix: str, *, backwards: bool
    ) -> tuple[Tensor, State]:
        """One cell along the sequence."""
        step = _STEPS[self.kind][0]
        bias_ih, bias_hh = (
            getattr(self, name + suffix) if self.bias else None for name in ("bias_ih", "bias_hh")
        )
        of_inputs = functional.linear(steps, getattr(self, f"weight_ih{suffix}"), bias_ih)
        weight = getattr(self, f"weight_hh{suffix}")
        outs = []
        order = range(len(steps))
        for at in reversed(order) if backwards else order:
            state = step(of_inputs[at], functional.linear(state[0], weight, bias_hh), state)
            outs.append(state[0])
        return stack(outs[::-1] if backwards else outs), state

    def extra_repr(self) -> str:
        """The extents, and the settings that are not as usual."""
        parts = [f"{self.input_size}, {self.hidden_size}"]
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0,
                 "bidirectional": False}  # fmt: skip
        parts += [
            f"{name}={getattr(self, name)}"
            for name, value in usual.items()
            if getattr(self, name) != value
        ]
        return ", ".join(parts)


class RNN(RNNBase):
    """Elman's network: `RNNCell` along sequences."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **named: Any,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(input_size, hidden_size, num_layers, *args, **named)
        self.kind = self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """`LSTMCell` along sequences; its state is (hidden, cell)."""

    kind = "lstm"


class GRU(RNNBase):
    """`GRUCell` along sequences."""

    kind = "gru"


__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

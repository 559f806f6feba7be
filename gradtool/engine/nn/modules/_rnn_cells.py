"""Single steps of recurrent networks as Modules."""

from __future__ import annotations

import math
from typing import Any

from gradtool.engine._ops.creation.creation import empty, zeros
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import _top_level, init
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter


def draw_uniformly(module: Any) -> None:
    """Draw all parameters uniformly from ±1/√hidden_size."""
    bound = 1 / math.sqrt(module.hidden_size)
    for parameter in module.parameters():
        init.uniform_(parameter, -bound, bound)


class RNNCellBase(Module):
    """Base of the cells: weights of input and hidden state for some gates."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        place = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(empty(rows, input_size, **place))
        self.weight_hh = Parameter(empty(rows, hidden_size, **place))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, **place)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly from ±1/√hidden_size."""
        draw_uniformly(self)

    def extra_repr(self) -> str:
        """Show the sizes, and what is not the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = vars(self).get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    @property
    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _initial(self, input: Tensor) -> Tensor:
        return zeros(input.shape[0], self.hidden_size, dtype=input.dtype, device=input.device)

    def _one_state(self, function: Any, input: Tensor, hx: Tensor | None) -> Tensor:
        self._check("input", input)
        if hx is not None:
            self._check("hidden", hx)
        if input.ndim == 2:
            state = self._initial(input) if hx is None else hx
            batch: Tensor = function(input, state, *self._weights)
            return batch
        one = input.unsqueeze(0)
        state = self._initial(one) if hx is None else hx.unsqueeze(0)
        alone: Tensor = function(one, state, *self._weights).squeeze(0)
        return alone

    def _check(self, name: str, value: Tensor) -> None:
        if value.ndim not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {value.ndim}D instead"
            )


class RNNCell(RNNCellBase):
    """``tanh(weight_ih @ input + bias_ih + weight_hh @ hx + bias_hh)``, or with ``relu``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next hidden state; the first one is zero."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._one_state(getattr(_top_level, f"rnn_{self.nonlinearity}_cell"), input, hx)


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next hidden state; the first one is zero."""
        return self._one_state(_top_level.gru_cell, input, hx)


class LSTMCell(RNNCellBase):
    """One step of a long short-term memory."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the next hidden and cell states; the first ones are zero."""
        self._check("input", input)
        for at, each in enumerate(hx or ()):
            self._check(f"hx[{at}]", each)
        batched = input.ndim == 2
        batch = input if batched else input.unsqueeze(0)
        if hx is None:
            states = [self._initial(batch)] * 2
        else:
            states = [each if batched else each.unsqueeze(0) for each in hx]
        hidden, cell = _top_level.lstm_cell(batch, states, *self._weights)
        return (hidden, cell) if batched else (hidden.squeeze(0), cell.squeeze(0))

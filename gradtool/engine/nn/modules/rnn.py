"""Recurrent networks as Modules."""

from __future__ import annotations

import warnings
from typing import Any

from gradtool.engine._ops.creation.creation import empty, zeros
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import _top_level
from gradtool.engine.nn.modules._rnn_cells import (
    GRUCell,
    LSTMCell,
    RNNCell,
    RNNCellBase,
    draw_uniformly,
)
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter
from gradtool.engine.nn.utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Base of the networks: layers of weights, in one direction or two."""

    _states = 1
    """Number of states; those of a network with one are no tuple."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_dropout(dropout, num_layers)
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional = float(dropout), bidirectional
        self.proj_size = proj_size
        self._check_settings()
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                shapes = self._shapes(layer, suffix)
                self._all_weights.append(list(shapes))
                made = [empty(*shape, device=device, dtype=dtype) for shape in shapes.values()]
                for name, each in zip(shapes, made):
                    setattr(self, name, Parameter(each))
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _check_settings(self) -> None:
        for name in ("bias", "batch_first"):
            _check_type(name, getattr(self, name), bool)
        for name in ("input_size", "hidden_size"):
            _check_type(name, getattr(self, name), int)
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {self.mode}")

    def _shapes(self, layer: int, suffix: str) -> dict[str, tuple[int, ...]]:
        """Shapes of the parameters of one direction of a layer, by name."""
        shown = self.proj_size or self.hidden_size
        rows = _GATES[self.mode] * self.hidden_size
        entering = shown * self._directions if layer else self.input_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, entering)}
        shapes["weight_hh"] = (rows, shown)
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return {f"{name}_l{layer}{suffix}": shape for name, shape in shapes.items()}

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Tensor]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """Parameters of each direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly from ±1/√hidden_size."""
        draw_uniformly(self)

    def flatten_parameters(self) -> None:
        """Do nothing: PyTorch's kernels on GPUs want the weights in one piece of memory."""

    def extra_repr(self) -> str:
        """Show the sizes, and what is not the default."""
        usual = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0,
            "bidirectional": False,
        }  # fmt: skip
        changed = [
            f"{name}={getattr(self, name)}"
            for name, default in usual.items()
            if getattr(self, name) != default
        ]
        return ", ".join([str(self.input_size), str(self.hidden_size), *changed])

    # ---- running ------------------------------------------------------------------------

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the outputs of all steps, packed if the input is, and the last states."""
        if isinstance(input, PackedSequence):
            return self._run_packed(input, hx)
        return self._run_padded(input, hx)

    def _run_packed(self, packed: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        data, sizes, order, inverse = packed
        states = self._initial(data, int(sizes[0]))
        if hx is not None:
            states = [_reordered(each, order) for each in self._as_states(hx)]
        self._check_run(data, states, sizes)
        out, *last = self._function(
            data, sizes, self._shown(states), self._flat_weights, self.bias, self.num_layers,
            self.dropout, self.training, self.bidirectional,
        )  # fmt: skip
        final = [_reordered(each, inverse) for each in last]
        return PackedSequence(out, sizes, order, inverse), self._shown(final)

    def _run_padded(self, input: Tensor, hx: Any) -> tuple[Tensor, Any]:
        if input.ndim not in (2, 3):
            tail = "D tensor instead" if self.mode.startswith("RNN") else "D instead"
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}{tail}"
            )
        batched, batch_dim = input.ndim == 3, 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(batch_dim)
        states = self._initial(input, input.shape[batch_dim])
        if hx is not None:
            states = self._as_states(hx)
            self._check_rank(states, batched)
            states = states if batched else [each.unsqueeze(1) for each in states]
        self._check_run(input, states, None)
        out, *last = self._function(
            input, self._shown(states), self._flat_weights, self.bias, self.num_layers,
            self.dropout, self.training, self.bidirectional, self.batch_first,
        )  # fmt: skip
        if batched:
            return out, self._shown(last)
        return out.squeeze(batch_dim), self._shown([each.squeeze(1) for each in last])

    @property
    def _function(self) -> Any:
        return getattr(_top_level, self.mode.lower())

    def _as_states(self, hx: Any) -> list[Tensor]:
        return [hx] if self._states == 1 else list(hx)

    def _shown(self, states: list[Tensor]) -> Any:
        return states[0] if self._states == 1 else tuple(states)

    def _initial(self, data: Tensor, batch: int) -> list[Tensor]:
        return [
            zeros(*shape, dtype=data.dtype, device=data.device)
            for shape in self._state_shapes(batch)
        ]

    def _state_shapes(self, batch: int) -> list[tuple[int, ...]]:
        """Shapes of the hidden state, and of the cell state if there is one."""
        sizes = [self.proj_size or self.hidden_size, self.hidden_size][: self._states]
        return [(self.num_layers * self._directions, batch, size) for size in sizes]

    def _check_rank(self, states: list[Tensor], batched: bool) -> None:
        rank = 3 if batched else 2
        if all(each.ndim == rank for each in states):
            return
        kind = "batched 3-D" if batched else "unbatched 2-D"
        found = [f"{each.ndim}-D" for each in states]
        if self._states == 1:
            raise RuntimeError(
                f"For {kind} input, hx should also be {rank}-D but got {found[0]} tensor"
            )
        raise RuntimeError(
            f"For {kind} input, hx and cx should also be {rank}-D but got ({', '.join(found)}) "
            "tensors"
        )

    def _check_run(self, data: Tensor, states: list[Tensor], sizes: Tensor | None) -> None:
        expected = self._flat_weights[0].dtype
        if data.dtype is not expected:
            raise ValueError(
                f"RNN input dtype ({data.dtype}) does not match weight dtype ({expected}). Convert "
                f"input: input.to({expected}), or convert model: model.to({data.dtype})"
            )
        rank = 3 if sizes is None else 2
        if data.ndim != rank:
            raise RuntimeError(f"input must have {rank} dimensions, got {data.ndim}")
        if data.shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {data.shape[-1]}"
            )
        batch = data.shape[0 if self.batch_first else 1] if sizes is None else int(sizes[0])
        names = ["hidden"] if self._states == 1 else ["hidden[0]", "hidden[1]"]
        for name, each, shape in zip(names, states, self._state_shapes(batch)):
            if tuple(each.shape) != shape:
                raise RuntimeError(f"Expected {name} size {shape}, got {list(each.shape)}")


def _check_dropout(dropout: Any, layers: int) -> None:
    number = isinstance(dropout, int | float) and not isinstance(dropout, bool)
    if not number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            "being zeroed"
        )
    if dropout and layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={layers}",
            stacklevel=3,
        )


def _check_type(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")


def _reordered(state: Tensor, order: Tensor | None) -> Tensor:
    return state if order is None else state.index_select(1, order)


def _refuse_projection(settings: dict[str, Any]) -> None:
    if "proj_size" in settings:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """Layers of ``tanh(weight_ih @ input + weight_hh @ hidden + biases)``, or with ``relu``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        nonlinearity = args[3] if len(args) > 3 else kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(f"RNN_{nonlinearity.upper()}", *args[:3], *args[4:], **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Layers of long short-term memory, with a hidden and a cell state."""

    _states = 2

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Layers of gated recurrent units."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)

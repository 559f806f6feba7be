"""Gradients that cannot be differentiated again: `once_differentiable`, and its node."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gradtool.engine._errors import ContractError
from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import Gradients, Node, OutputEdge, next_order


class Error(Node):
    """Takes the place of the graph of a gradient that cannot be differentiated."""

    def __init__(self, inputs: Sequence[Tensor | None], message: str) -> None:
        self.message = message
        self._order = next_order()
        self._hooks = None
        self._outputs = len(inputs)
        self._shown = [
            each._current_node() or each._accumulator()
            if each is not None and each._requires_grad
            else None
            for each in inputs
        ]
        self._edges = tuple([edge for edge in self._shown if edge is not None])

    def _shown_edges(self) -> Sequence[Node | None]:
        return self._shown

    def name(self) -> str:
        """The name of torch's class in C++."""
        return "torch::autograd::Error"

    def _vjp(self, grad: Any, wanted: set[int] | None) -> Gradients:
        """Refuse."""
        raise ContractError("once-differentiable", self.message)


def refuse_derivative(inputs: Sequence[Tensor | None], message: str) -> tuple[Tensor | None, ...]:
    """Return tensors with the same values, whose gradient is an error with this message."""
    node = Error(inputs, message)
    outputs = tuple([None if each is None else each.detach() for each in inputs])
    for number, each in enumerate(outputs):
        if each is not None:
            each._node = node if node._outputs == 1 else OutputEdge(node, number)
            each._requires_grad = True
    return outputs


def _refuse_second_derivative(outputs: Any) -> Any:
    # New tensors: an output may be one that the user holds.
    leaves = [
        each.detach() if isinstance(each, Tensor) else None
        for each in (outputs if isinstance(outputs, tuple) else (outputs,))
    ]
    for each in leaves:
        if each is not None:
            each.requires_grad = True
    refused = refuse_derivative(
        leaves,
        "trying to differentiate twice a function that was marked with @once_differentiable",
    )
    return refused if isinstance(outputs, tuple) else refused[0]


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Declare that a ``backward`` cannot be differentiated, so that differentiating it raises.

    As in torch, only a gradient whose cotangent required a gradient raises.
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        recording = modes.grad
        modes.grad = False
        try:
            outputs = fn(ctx, *args)
        finally:
            modes.grad = recording
        # Unconnected outputs would pass for constants: a wrong second derivative, not an error.
        if recording and any(isinstance(arg, Tensor) and arg._requires_grad for arg in args):
            return _refuse_second_derivative(outputs)
        return outputs

    wrapper._once_differentiable = True  # type: ignore[attr-defined]  # read by checkers
    return wrapper

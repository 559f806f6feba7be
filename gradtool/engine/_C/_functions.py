"""Functions of PyTorch's compiled core that are nodes of the graph only."""

from __future__ import annotations

from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import AccumulateGrad
from gradtool.engine.autograd._once_differentiable import refuse_derivative
from gradtool.engine.autograd.function import Function

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]


class _Undefined(Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> Any:
        """Return the inputs."""
        return inputs[0].detach() if len(inputs) == 1 else tuple(each.detach() for each in inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        """No gradient."""
        return (None,) * len(grads)


_Undefined._backward_cls.__name__ = "UndefinedGradBackward"


class DelayedError:
    """Returns its arguments; their gradients are an error."""

    def __init__(self, message: str | bytes, count: int) -> None:
        self._message = message if isinstance(message, str) else message.decode()
        self._count = count

    def __call__(self, *inputs: Tensor | None) -> Any:
        """The arguments, with gradients that cannot be computed."""
        outputs = refuse_derivative(inputs, self._message)
        return outputs[0] if self._count == 1 else outputs


class UndefinedGrad:
    """Returns its arguments; their gradients are undefined."""

    def __call__(self, *inputs: Tensor) -> Any:
        """The arguments, with an undefined gradient."""
        return _Undefined.apply(*inputs)

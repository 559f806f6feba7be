"""``torch.nn.grad``: gradients of convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine._ops.creation.creation import zeros
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd import grad
from gradtool.engine.autograd.grad_mode import enable_grad, is_grad_enabled
from gradtool.engine.nn.functional import conv1d, conv2d, conv3d


def _input_gradient(convolution: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def of_input(
        input_size: Any,
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        """Gradient of a convolution with respect to its input, of this size."""
        primal = zeros(input_size, dtype=weight.dtype, device=weight.device, requires_grad=True)
        return _pull_back(
            lambda: convolution(primal, weight, None, stride, padding, dilation, groups),
            primal,
            grad_output,
        )

    return of_input


def _weight_gradient(convolution: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def of_weight(
        input: Tensor,
        weight_size: Any,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        """Gradient of a convolution with respect to its weight, of this size."""
        primal = zeros(weight_size, dtype=input.dtype, device=input.device, requires_grad=True)
        return _pull_back(
            lambda: convolution(input, primal, None, stride, padding, dilation, groups),
            primal,
            grad_output,
        )

    return of_weight


def _pull_back(compute: Callable[[], Tensor], primal: Tensor, cotangent: Tensor) -> Tensor:
    """Pull back through a convolution, which is linear in each argument: any primal will do."""
    recorded = is_grad_enabled()
    with enable_grad():
        out = compute()
    (found,) = grad(out, primal, cotangent, create_graph=recorded, materialize_grads=True)
    assert found is not None  # zeros at least
    return found


conv1d_input, conv2d_input, conv3d_input = map(_input_gradient, (conv1d, conv2d, conv3d))
conv1d_weight, conv2d_weight, conv3d_weight = map(_weight_gradient, (conv1d, conv2d, conv3d))

__all__ = [
    "conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
    "conv3d_weight",
]  # fmt: skip

"""Normalization of each example as Modules."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.core.dims import as_ints
from gradtool.engine._ops.creation.creation import ones, zeros
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional
from gradtool.engine.nn.modules._functional import module_of
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter


class LayerNorm(Module):
    """`nn.functional.layer_norm` with a learned weight and bias."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = self.normalized_shape = as_ints(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", None)
        self.register_parameter("bias", None)
        if elementwise_affine:
            self.weight = Parameter(ones(shape, device=device, dtype=dtype))
            if bias:
                self.bias = Parameter(zeros(shape, device=device, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        """Normalize the input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the shape, epsilon and the presence of a weight."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """`nn.functional.rms_norm` with a learned weight."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = self.normalized_shape = as_ints(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        weight = Parameter(ones(shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize the input."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Show the shape, epsilon and the presence of a weight."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """`nn.functional.group_norm` with a learned weight and bias."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        self.register_parameter("weight", None)
        self.register_parameter("bias", None)
        if affine:
            self.weight = Parameter(ones(num_channels, device=device, dtype=dtype))
            self.bias = Parameter(zeros(num_channels, device=device, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        """Normalize the input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the groups, the channels, epsilon and the presence of a weight."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


LocalResponseNorm = module_of(
    "LocalResponseNorm", functional.local_response_norm, __name__,
    text="{size}, alpha={alpha}, beta={beta}, k={k}", size=..., alpha=1e-4, beta=0.75,
    k=1.0,
)  # fmt: skip

__all__ = ["GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]

"""Convolutions as Modules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradtool.engine._ops.creation.creation import empty
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional, init
from gradtool.engine.nn.functional._folding import for_each, product
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter


class _Convolution(Module):
    """Base of the convolutions: weight and bias, drawn uniformly from ±1/√fan_in."""

    spatial: int
    function: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in_channels % groups or out_channels % groups:
            raise ValueError("in_channels and out_channels must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = for_each(kernel_size, self.spatial, "kernel_size")
        self.stride = for_each(stride, self.spatial, "stride")
        self.dilation = for_each(dilation, self.spatial, "dilation")
        self.padding = (
            padding if isinstance(padding, str) else for_each(padding, self.spatial, "padding")
        )
        self.padding_mode = padding_mode
        shape = (*self._channels(), *self.kernel_size)
        self.weight = Parameter(empty(*shape, device=device, dtype=dtype))
        shift = Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", shift)
        self.reset_parameters()

    def _channels(self) -> tuple[int, int]:
        return self.out_channels, self.in_channels // self.groups

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly."""
        inputs = self.weight.shape[1] * product(self.kernel_size)
        bound = 1 / math.sqrt(inputs) if inputs else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input."""
        padding = self.padding
        if self.padding_mode != "zeros" and not isinstance(padding, str):
            ends = [end for each in reversed(padding) for end in (each, each)]
            input, padding = functional.pad(input, ends, self.padding_mode), (0,) * self.spatial
        function = type(self).function
        return function(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        """Show the channels, and settings that differ from the defaults."""
        shown = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"]
        shown.append(f"stride={self.stride}")
        if self.padding != (0,) * self.spatial:
            shown.append(f"padding={self.padding}")
        if self.dilation != (1,) * self.spatial:
            shown.append(f"dilation={self.dilation}")
        if getattr(self, "output_padding", None) not in (None, (0,) * self.spatial):
            shown.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            shown.append(f"groups={self.groups}")
        if self.bias is None:
            shown.append("bias=False")
        if self.padding_mode != "zeros":
            shown.append(f"padding_mode={self.padding_mode}")
        return ", ".join(shown)


class Conv1d(_Convolution):
    """`nn.functional.conv1d` with a learned weight and bias."""

    spatial, function = 1, staticmethod(functional.conv1d)


class Conv2d(_Convolution):
    """`nn.functional.conv2d` with a learned weight and bias."""

    spatial, function = 2, staticmethod(functional.conv2d)


class Conv3d(_Convolution):
    """`nn.functional.conv3d` with a learned weight and bias."""

    spatial, function = 3, staticmethod(functional.conv3d)


class _Transposed(_Convolution):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            device=device, dtype=dtype,
        )  # fmt: skip
        self.output_padding = for_each(output_padding, self.spatial, "output_padding")

    def _channels(self) -> tuple[int, int]:
        return self.in_channels, self.out_channels // self.groups

    def forward(self, input: Tensor) -> Tensor:
        """Apply the transposed convolution."""
        function = type(self).function
        return function(
            input, self.weight, self.bias, self.stride, self.padding, self.output_padding,
            self.groups, self.dilation,
        )  # fmt: skip


class ConvTranspose1d(_Transposed):
    """`nn.functional.conv_transpose1d` with a learned weight and bias."""

    spatial, function = 1, staticmethod(functional.conv_transpose1d)


class ConvTranspose2d(_Transposed):
    """`nn.functional.conv_transpose2d` with a learned weight and bias."""

    spatial, function = 2, staticmethod(functional.conv_transpose2d)


class ConvTranspose3d(_Transposed):
    """`nn.functional.conv_transpose3d` with a learned weight and bias."""

    spatial, function = 3, staticmethod(functional.conv_transpose3d)


__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

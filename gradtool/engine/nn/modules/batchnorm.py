"""Normalization over the batch as Modules, with running statistics."""

from __future__ import annotations

from typing import Any

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.creation import ones, zeros
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter


class _BatchNorm(Module):
    """Base of the classes below: weight, bias and running statistics."""

    ranks: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        kind: dict[str, Any] = {"device": device, "dtype": dtype}
        for name, make in (("weight", ones), ("bias", zeros)):
            own = Parameter(make(num_features, **kind)) if affine else None
            self.register_parameter(name, own)
        for name, make in (("running_mean", zeros), ("running_var", ones)):
            self.register_buffer(name, make(num_features, **kind) if track_running_stats else None)
        count = zeros((), dtype=_dtypes.int64, device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize by the batch in training and by the running statistics otherwise."""
        if input.ndim not in self.ranks:
            wanted = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")
        training = self.training or not self.track_running_stats
        rate = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked += 1
            if self.momentum is None:
                rate = 1 / int(self.num_batches_tracked)
        return functional.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, training, rate,
            self.eps,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """`nn.functional.batch_norm` of (N, C) or (N, C, L)."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """`nn.functional.batch_norm` of (N, C, H, W)."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """`nn.functional.batch_norm` of (N, C, D, H, W)."""

    ranks = (5,)


class _InstanceNorm(_BatchNorm):
    """The same for each example; weights and running statistics are off by default."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize an input (N, C, …) or (C, …)."""
        if input.ndim not in self.ranks:
            wanted = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")
        batch = input if input.ndim == max(self.ranks) else input.unsqueeze(0)
        out = functional.instance_norm(
            batch, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return out if batch is input else out.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """`nn.functional.instance_norm` of (N, C, L) or (C, L)."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """`nn.functional.instance_norm` of (N, C, H, W) or (C, H, W)."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """`nn.functional.instance_norm` of (N, C, D, H, W) or (C, D, H, W)."""

    ranks = (4, 5)


__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d",
]  # fmt: skip

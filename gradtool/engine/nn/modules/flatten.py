"""Flattening, folding and other changes of shape as Modules."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.shape.shape import flatten, unflatten
from gradtool.engine.nn import functional as F  # noqa: N812 - as everybody calls it
from gradtool.engine.nn.modules._functional import module_of

Flatten = module_of("Flatten", flatten, __name__, start_dim=1, end_dim=-1)
Unflatten = module_of(
    "Unflatten",
    lambda x, dim, unflattened_size: unflatten(x, dim, unflattened_size),
    __name__,
    dim=...,
    unflattened_size=...,
)
Fold = module_of(
    "Fold", F.fold, __name__, output_size=..., kernel_size=..., dilation=1, padding=0, stride=1
)
Unfold = module_of("Unfold", F.unfold, __name__, kernel_size=..., dilation=1, padding=0, stride=1)
PixelShuffle = module_of("PixelShuffle", F.pixel_shuffle, __name__, upscale_factor=...)
PixelUnshuffle = module_of("PixelUnshuffle", F.pixel_unshuffle, __name__, downscale_factor=...)


def _resampling(module: Any) -> str:
    """Show the size or the factor, and the mode."""
    mode = getattr(module, "mode", "bilinear" if "Bilinear" in type(module).__name__ else "nearest")
    if module.size is not None:
        return f"size={module.size}, mode={mode!r}"
    factor = module.scale_factor
    factor = tuple(map(float, factor)) if isinstance(factor, tuple | list) else float(factor)
    return f"scale_factor={factor}, mode={mode!r}"


Upsample = module_of(
    "Upsample",
    F.interpolate,
    __name__,
    text=_resampling,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
)
UpsamplingBilinear2d, UpsamplingNearest2d = (
    module_of(name, function, __name__, text=_resampling, size=None, scale_factor=None)
    for name, function in (
        ("UpsamplingBilinear2d", F.upsample_bilinear), ("UpsamplingNearest2d", F.upsample_nearest),
    )
)  # fmt: skip
ChannelShuffle = module_of("ChannelShuffle", F.channel_shuffle, __name__, groups=...)

__all__ = [
    "ChannelShuffle", "Flatten", "Fold", "PixelShuffle", "PixelUnshuffle", "Unflatten", "Unfold",
    "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d",
]  # fmt: skip

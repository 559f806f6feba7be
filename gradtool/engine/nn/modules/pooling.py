"""Pooling as Modules."""

from __future__ import annotations

from typing import Any

from gradtool.engine.nn import functional as F  # noqa: N812 - as everybody calls it
from gradtool.engine.nn.modules._functional import module_of

_WINDOWS: dict[str, Any] = {"kernel_size": ..., "stride": None, "padding": 0}
_MEANS: dict[str, Any] = {**_WINDOWS, "ceil_mode": False, "count_include_pad": True}
_LARGEST: dict[str, Any] = {
    **_WINDOWS, "dilation": 1, "return_indices": False, "ceil_mode": False,
}  # fmt: skip

AdaptiveAvgPool1d = module_of("AdaptiveAvgPool1d", F.adaptive_avg_pool1d, __name__, output_size=...)
AdaptiveAvgPool2d = module_of("AdaptiveAvgPool2d", F.adaptive_avg_pool2d, __name__, output_size=...)
AdaptiveMaxPool1d, AdaptiveMaxPool2d = (
    module_of(f"AdaptiveMaxPool{n}d", pool, __name__, output_size=..., return_indices=False)
    for n, pool in ((1, F.adaptive_max_pool1d), (2, F.adaptive_max_pool2d))
)
AvgPool1d = module_of("AvgPool1d", F.avg_pool1d, __name__, **_MEANS)
AvgPool2d = module_of("AvgPool2d", F.avg_pool2d, __name__, **_MEANS, divisor_override=None)
MaxPool1d = module_of("MaxPool1d", F.max_pool1d, __name__, **_LARGEST)
MaxPool2d = module_of("MaxPool2d", F.max_pool2d, __name__, **_LARGEST)

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AvgPool1d", "AvgPool2d", "MaxPool1d", "MaxPool2d",
]  # fmt: skip

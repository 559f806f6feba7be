"""Pooling as Modules."""

from __future__ import annotations

import re
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional as F  # noqa: N812 - as everybody calls it
from gradtool.engine.nn.modules._functional import FunctionalModule, module_of

_WINDOWS: dict[str, Any] = {"kernel_size": ..., "stride": None, "padding": 0}
_MEANS: dict[str, Any] = {**_WINDOWS, "ceil_mode": False, "count_include_pad": True}
_LARGEST: dict[str, Any] = {
    **_WINDOWS, "dilation": 1, "return_indices": False, "ceil_mode": False,
}  # fmt: skip

_NORMS: dict[str, Any] = {
    "norm_type": ..., "kernel_size": ..., "stride": None, "ceil_mode": False,
}  # fmt: skip

_TEXTS = {
    "AdaptiveMaxPool": "output_size={output_size}",
    "AvgPool": "kernel_size={kernel_size}, stride={stride}, padding={padding}",
    "LPPool": "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, "
    "ceil_mode={ceil_mode}",
    "MaxPool": "kernel_size={kernel_size}, stride={stride}, padding={padding}, "
    "dilation={dilation}, ceil_mode={ceil_mode}",
}
"""Format of each function's `repr`."""


def _pooling(name: str, spatial: int, settings: dict[str, Any]) -> Any:
    """Make the Module of a function: ``AvgPool2d`` of ``avg_pool2d``."""
    words = re.findall("LP|[A-Z][a-z]*", name)
    function = getattr(F, f"{'_'.join(words).lower()}{spatial}d")
    text = _TEXTS.get(name)
    if name == "AvgPool" and spatial == 1:
        text = "kernel_size=({kernel_size},), stride=({stride},), padding=({padding},)"
    return module_of(f"{name}{spatial}d", function, __name__, text=text, **settings)


def _all_three(name: str, settings: dict[str, Any]) -> list[Any]:
    return [_pooling(name, spatial, settings) for spatial in (1, 2, 3)]


AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = _all_three(
    "AdaptiveAvgPool", {"output_size": ...}
)
AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d = _all_three(
    "AdaptiveMaxPool", {"output_size": ..., "return_indices": False}
)
AvgPool1d = _pooling("AvgPool", 1, _MEANS)
AvgPool2d, AvgPool3d = (
    _pooling("AvgPool", spatial, {**_MEANS, "divisor_override": None}) for spatial in (2, 3)
)
LPPool1d, LPPool2d, LPPool3d = _all_three("LPPool", _NORMS)
MaxPool1d, MaxPool2d, MaxPool3d = _all_three("MaxPool", _LARGEST)


class _Unpooling(FunctionalModule):
    """Inverse pooling; `forward` takes the requested extents as well."""

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Any:
        """Call the function with the inputs and the settings."""
        settings = {name: getattr(self, name) for name in self.defaults}
        return type(self).function(input, indices, **settings, output_size=output_size)


_FRACTIONS: dict[str, Any] = {
    "kernel_size": ..., "output_size": None, "output_ratio": None, "return_indices": False,
    "_random_samples": None,
}  # fmt: skip
FractionalMaxPool2d = module_of(
    "FractionalMaxPool2d", F.fractional_max_pool2d, __name__, text="", **_FRACTIONS
)
FractionalMaxPool3d = module_of(
    "FractionalMaxPool3d", F.fractional_max_pool3d, __name__, text="", **_FRACTIONS
)


class MaxUnpool1d(_Unpooling):
    """`nn.functional.max_unpool1d` as a Module."""

    function, defaults = staticmethod(F.max_unpool1d), _WINDOWS


class MaxUnpool2d(_Unpooling):
    """`nn.functional.max_unpool2d` as a Module."""

    function, defaults = staticmethod(F.max_unpool2d), _WINDOWS


class MaxUnpool3d(_Unpooling):
    """`nn.functional.max_unpool3d` as a Module."""

    function, defaults = staticmethod(F.max_unpool3d), _WINDOWS


__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d",
    "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip

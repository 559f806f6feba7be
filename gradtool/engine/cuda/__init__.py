"""What there is of CUDA, laid out as ``torch.cuda`` is."""

from __future__ import annotations

from gradtool.device import array_module
from gradtool.engine.cuda import amp

__all__ = ["amp", "device_count", "is_available"]


def device_count() -> int:
    """How many CUDA devices can be used: none without CuPy or without a driver."""
    try:
        runtime = array_module("cuda").cuda.runtime
    except RuntimeError:
        return 0
    try:
        return int(runtime.getDeviceCount())
    except runtime.CUDARuntimeError:
        return 0


def is_available() -> bool:
    """Whether there is a CUDA device that can be used."""
    return device_count() > 0

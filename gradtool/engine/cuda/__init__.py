"""CUDA devices through CuPy, laid out as ``torch.cuda`` is.

Importing it does not load CuPy. Without CuPy or a driver, `is_available` is False, `device_count`
is 0, and calls that need a device raise an error with the reason.
"""

from __future__ import annotations

from typing import Any

from gradtool.engine.cuda import amp
from gradtool.engine.cuda._devices import (
    current_device,
    device,
    device_count,
    device_of,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    is_available,
    is_initialized,
    set_device,
    synchronize,
)
from gradtool.engine.cuda.memory import (
    OutOfMemoryError,
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    reset_peak_memory_stats,
)
from gradtool.engine.cuda.random import (
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
)
from gradtool.engine.cuda.streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

__all__ = [
    "Event", "OutOfMemoryError", "Stream", "StreamContext", "amp", "current_device",
    "current_stream", "default_stream", "device", "device_count", "device_of", "empty_cache",
    "get_device_capability", "get_device_name", "get_device_properties", "init", "initial_seed",
    "is_available", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved",
    "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_stream", "stream",
    "synchronize",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "_initialized":
        return is_initialized()
    raise AttributeError(f"module 'torch.cuda' has no attribute {name!r}")

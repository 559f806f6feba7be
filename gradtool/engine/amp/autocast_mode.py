"""Automatic mixed precision, which the engine never enables: operations keep their dtypes."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

from gradtool.device import CUDA
from gradtool.engine._dtypes import bfloat16, dtype, float16
from gradtool.engine._placeholder import EngineLacksError

__all__ = [
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_available",
    "is_autocast_enabled",
]


class autocast(contextlib.ContextDecorator):
    """Leave operations inside as they would be outside.

    Enabled for a device that is not available, it only warns, as in torch.

    Raises:
        EngineLacksError: It is enabled for a device on which it would change dtypes.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        _check(device_type)
        if enabled and is_autocast_available(device_type):
            raise EngineLacksError("torch.amp.autocast")
        if enabled:
            name = device_type.upper()
            warnings.warn(f"{name} is not available. Disabling autocast.", stacklevel=2)

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass


def is_autocast_available(device_type: str) -> bool:
    """Return True if there is such a device."""
    return device_type == "cpu" or (device_type == "cuda" and CUDA.count() > 0)


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Return False: autocast is never on."""
    return False


def get_autocast_dtype(device_type: str) -> dtype:
    """Return the dtype that autocast would compute in on a device."""
    _check(device_type)
    return bfloat16 if device_type == "cpu" else float16


def get_autocast_cpu_dtype() -> dtype:
    """Return the dtype that autocast would compute in on the CPU."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> dtype:
    """Return the dtype that autocast would compute in on a GPU."""
    return get_autocast_dtype("cuda")


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """Return the ``forward`` of a Function unchanged: without autocast it needs no casts.

    Args:
        fwd: The method; without it, a decorator is returned.
        device_type: The device of the autocast.
        cast_inputs: The dtype of inputs inside autocast; ignored.
    """
    _check(device_type)
    return _same if fwd is None else fwd


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Return the ``backward`` of a Function unchanged: without autocast it needs no casts."""
    _check(device_type)
    return _same if bwd is None else bwd


def _check(device_type: str) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _same(method: Callable[..., Any]) -> Callable[..., Any]:
    return method

"""Devices, dtypes, executors and amounts of memory as people write them."""

from __future__ import annotations

import re

from gradtool.errors import UsageError

EXPLORE = ("off", "quick", "deep")
"""Efforts to find arguments beside the given cases at which a Function is wrong."""

DTYPES = ("float32", "float64")
EXECUTORS = ("local", "dask")
DEVICE = re.compile(r"cpu|cuda(?::(\d+))?")


def require_device(device: str) -> None:
    """Refuse a device that this machine does not have.

    Raises:
        UsageError: The device is unknown or missing; the message says what to do.
    """
    match = DEVICE.fullmatch(device)
    if match is None:
        raise UsageError(f"--device must be cpu, cuda or cuda:N, got {device!r}")
    if device != "cpu":
        _require_cuda(int(match[1] or 0))


def _require_cuda(index: int) -> None:
    # NumPy comes with it, which a run on the CPU does not need here.
    from gradtool.device import CUDA, array_module

    try:
        count = int(array_module("cuda").cuda.runtime.getDeviceCount())
    except Exception as error:  # CuPy raises ImportError, CUDARuntimeError and others
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UsageError(f"--device cuda cannot be used: {reason}") from None
    if index >= count:
        raise UsageError(f"--device cuda:{index} does not exist; CUDA devices here: {count}")
    if (missing := CUDA.why_no_kernels()) is not None:
        raise UsageError(f"--device cuda cannot be used: {missing}")


_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)

_LEAST = 2**20
"""A limit below this is a mistake: the unit was forgotten."""

_TOO_MUCH = 2**60
"""No system accepts such a limit."""


def parse_size(text: str) -> int | None:
    """Parse a number of bytes; None for ``none``.

    Raises:
        ValueError: It is neither a size nor ``none``; the message shows how to write one.
    """
    if text.strip().lower() == "none":
        return None
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"must be a size such as 512MiB or 4GiB, or none, got {text!r}")
    size = float(match[1]) * _UNITS[match[2].lower()]
    if size < _LEAST:
        raise ValueError(f"must be 1MiB or more, got {text!r}: is the unit missing?")
    if size >= _TOO_MUCH:
        raise ValueError(f"must be below 1048576TiB, or none, got {text!r}")
    return int(size)

"""Whether the device that was asked for is there."""

from __future__ import annotations

import re

from gradtool.errors import UsageError

DEVICE = re.compile(r"cpu|cuda(?::(\d+))?")


def require_device(device: str) -> None:
    """Refuse a device that this machine does not have.

    Raises:
        UsageError: The device is unknown or missing; the text says what to do.
    """
    match = DEVICE.fullmatch(device)
    if match is None:
        raise UsageError(f"--device must be cpu, cuda or cuda:N, got {device!r}")
    if device != "cpu":
        _require_cuda(int(match[1] or 0))


def _require_cuda(index: int) -> None:
    from gradtool.device import array_module  # NumPy, which a run on the host need not load here

    try:
        count = int(array_module("cuda").cuda.runtime.getDeviceCount())
    except Exception as error:  # CuPy raises ImportError, CUDARuntimeError and others
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UsageError(f"--device cuda cannot be used: {reason}") from None
    if index >= count:
        raise UsageError(f"--device cuda:{index} does not exist: CUDA has {count} here")

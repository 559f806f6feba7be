"""Whether the device that was asked for is there."""

from __future__ import annotations

import importlib
import importlib.util
import re

from gradtool.gate.options import UsageError

DEVICE = re.compile(r"cpu|cuda(?::(\d+))?")

_ENGINE_ON_CUDA = "gradtool.engine.cuda"


def require_device(device: str) -> None:
    """Refuse a device that this machine, or the engine, does not have.

    Raises:
        UsageError: The device is unknown or missing; the text says what to do.
    """
    match = DEVICE.fullmatch(device)
    if match is None:
        raise UsageError(f"--device must be cpu, cuda or cuda:N, got {device!r}")
    if device != "cpu":
        _require_cuda(int(match[1] or 0))


def _require_cuda(index: int) -> None:
    if importlib.util.find_spec("cupy") is None:
        raise UsageError(
            "--device cuda needs CuPy, which is not installed: pip install 'gradtool[cuda12]'"
        )
    count = _cuda_devices()
    if index >= count:
        raise UsageError(f"--device cuda:{index} does not exist: CUDA has {count} here")
    if importlib.util.find_spec(_ENGINE_ON_CUDA) is None:
        raise UsageError("--device cuda: the bundled engine of this version runs on cpu only")


def _cuda_devices() -> int:
    """How many devices CUDA has, once CuPy has been persuaded to look."""
    try:
        count: int = importlib.import_module("cupy").cuda.runtime.getDeviceCount()
    except Exception as error:  # CuPy raises ImportError, CUDARuntimeError and others
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UsageError(f"--device cuda cannot be used: {reason}") from None
    return count

"""The machine that a run measures: what was asked for, never something else in its place."""

from __future__ import annotations

import re

from gradtool.device import CUDA
from gradtool.transfer.errors import TransferError
from gradtool.transfer.host.machine import HostMachine
from gradtool.transfer.machine import Machine

_DEVICE = re.compile(r"cpu|cuda(?::(\d+))?")


def machine_for(device: str | None) -> Machine:
    """The machine that a device's name stands for; None takes CUDA where there is one.

    Raises:
        TransferError: there is no such device; the text says why.
    """
    if device is None:
        device = "cuda" if CUDA.count() else "cpu"
    match = _DEVICE.fullmatch(device)
    if match is None:
        raise TransferError(f"--device must be cpu, cuda or cuda:N, got {device!r}")
    return HostMachine() if device == "cpu" else _cuda(int(match[1] or 0))


def _cuda(index: int) -> Machine:
    reason = CUDA.why_unavailable()
    if reason is not None:
        hint = "" if "cpu" in reason else "; --device cpu measures the host alone"
        raise TransferError(f"--device cuda cannot be used: {reason}{hint}")
    if index >= CUDA.count():
        raise TransferError(f"--device cuda:{index} does not exist: CUDA has {CUDA.count()} here")
    from gradtool.transfer.cuda.machine import CudaMachine

    return CudaMachine(index)

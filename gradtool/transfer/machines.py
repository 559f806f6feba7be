"""The machine that a run measures: what was asked for, never something else in its place."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from gradtool.device import CUDA
from gradtool.transfer.errors import TransferError
from gradtool.transfer.header import host_header
from gradtool.transfer.host.machine import HostMachine
from gradtool.transfer.machine import Machine
from gradtool.transfer_results import Header, Link

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


def described(machine: Machine) -> tuple[Header, Link]:
    """What a machine is, and its link where it has one."""
    header = host_header(machine)
    if machine.simulated:
        return header, Link(unknown="n/a: no device")
    from gradtool.transfer.cuda.header import describe
    from gradtool.transfer.cuda.machine import CudaMachine

    assert isinstance(machine, CudaMachine)
    return describe(machine, header)


def near(machine: Machine) -> AbstractContextManager[Any]:
    """Run near the device, where that is known."""
    if machine.simulated:
        return nullcontext()
    from gradtool.transfer.cuda.header import near as near_device
    from gradtool.transfer.cuda.machine import CudaMachine

    assert isinstance(machine, CudaMachine)
    return near_device(machine)

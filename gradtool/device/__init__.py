"""Devices for arrays: host memory (NumPy) or CUDA (CuPy, loaded on first use).

`protocol.Backend` is the interface of a kind of device; `backend` returns the one of a kind.
"""

from __future__ import annotations

from gradtool.device.arrays import accumulated, add_at, array_module, combine_at, module_of
from gradtool.device.cuda import CUDA
from gradtool.device.host import HostBackend
from gradtool.device.protocol import Backend, DeviceUnavailableError
from gradtool.device.transfers import keep_until_done, made_on, moved_to, pinned, to_host

HOST = HostBackend()


def backend(kind: str) -> Backend:
    """Return the backend of a kind of device: ``cpu`` or ``cuda``."""
    return HOST if kind == "cpu" else CUDA


__all__ = [
    "CUDA", "HOST", "Backend", "DeviceUnavailableError", "accumulated", "add_at", "array_module",
    "backend", "combine_at", "keep_until_done", "made_on", "module_of", "moved_to", "pinned",
    "to_host",
]  # fmt: skip

"""The NVIDIA driver and the CuPy that are installed, and whether one is for the other.

Neither needs CUDA to work, so that they can say why it does not.
"""

from __future__ import annotations

import ctypes
import re
import sys

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
"""The driver's library."""

_BRINGS_CUPY = re.compile(r"cupy(-(cuda|rocm).*)?")
_OLDEST, _NEWEST = 12, 13
"""Majors of CUDA that gradtool has an extra for."""


def driver_version() -> tuple[int, int] | None:
    """The CUDA version that the driver offers; None without one."""
    try:
        library = ctypes.CDLL(LIBRARY)
        number = ctypes.c_int()
        status = library.cuDriverGetVersion(ctypes.byref(number))
    except (OSError, AttributeError):
        return None
    return None if status or not number.value else (
        number.value // 1000, number.value % 1000 // 10
    )  # fmt: skip


def installed_cupy() -> list[str]:
    """The packages that bring a ``cupy``, with their versions."""
    from importlib.metadata import distributions  # 20 ms that only this needs

    named = [(each.metadata["Name"] or "", each.version) for each in distributions()]
    return sorted({f"{name} {number}" for name, number in named if _BRINGS_CUPY.fullmatch(name)})


def cuda_major(package: str) -> int | None:
    """The CUDA major that ``cupy-cuda12x 14.0`` is for."""
    digits = package.split()[0].removeprefix("cupy-cuda").rstrip("x")
    return int(digits) if digits.isdecimal() else None


def wanted_extra(offered: tuple[int, int] | None) -> str:
    """The extra of gradtool that brings the CuPy for a driver: ``cuda12``."""
    major = offered[0] if offered else _OLDEST
    return f"cuda{min(max(major, _OLDEST), _NEWEST)}"


def mismatch() -> str | None:
    """Why the driver that is here is none for the CuPy that is; None where they do match."""
    offered = driver_version()
    if offered is None:
        return f"there is no NVIDIA driver here (no {LIBRARY})"
    for package in installed_cupy():
        major = cuda_major(package)
        if major and major > offered[0]:
            return (
                f"{package} is for CUDA {major}, the driver offers {offered[0]}.{offered[1]}: "
                f"pip install 'gradtool[{wanted_extra(offered)}]' in its place, or a newer driver"
            )
    return None

"""The installed NVIDIA driver and CuPy, and their match.

Nothing here needs a working CUDA, so that it can report why CUDA does not work.
"""

from __future__ import annotations

import ctypes
import re
import sys

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
"""The driver's library."""

_CUPY_PACKAGE = re.compile(r"cupy(-(cuda|rocm).*)?")
_OLDEST, _NEWEST = 12, 13
"""Major versions of CUDA that gradtool has an extra for."""


def driver_version() -> tuple[int, int] | None:
    """Return the CUDA version that the driver supports; None without a driver."""
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
    """Return the installed packages that provide ``cupy``, with their versions."""
    from importlib.metadata import distributions  # takes 20 ms, and only this function needs it

    named = [(each.metadata["Name"] or "", each.version) for each in distributions()]
    return sorted({f"{name} {number}" for name, number in named if _CUPY_PACKAGE.fullmatch(name)})


def cuda_major(package: str) -> int | None:
    """Return the CUDA major version of a package such as ``cupy-cuda12x 14.0``."""
    digits = package.split()[0].removeprefix("cupy-cuda").rstrip("x")
    return int(digits) if digits.isdecimal() else None


def wanted_extra(offered: tuple[int, int] | None) -> str:
    """Return gradtool's extra with the CuPy for a driver: ``cuda12``."""
    major = offered[0] if offered else _OLDEST
    return f"cuda{min(max(major, _OLDEST), _NEWEST)}"


def mismatch() -> str | None:
    """Return why the driver and CuPy do not match, or None."""
    offered = driver_version()
    if offered is None:
        return f"no NVIDIA driver found (no {LIBRARY})"
    for package in installed_cupy():
        major = cuda_major(package)
        if major and major > offered[0]:
            return (
                f"{package} is for CUDA {major}, but the driver supports "
                f"{offered[0]}.{offered[1]}: "
                f"pip install 'gradtool[{wanted_extra(offered)}]' instead, or update the driver"
            )
    return None

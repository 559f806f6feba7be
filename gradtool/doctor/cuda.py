"""CUDA: the driver, CuPy, and the devices with their links."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator
from importlib.metadata import distributions

from gradtool.doctor.answer import Answer

_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_BRINGS_CUPY = re.compile(r"cupy(-(cuda|rocm).*)?")
_NO_GPU = "nothing to do, unless there is an NVIDIA GPU: then install its driver"


def driver() -> Iterator[Answer]:
    """The driver's library, which needs no CuPy to be asked."""
    found = driver_version()
    if found is None:
        text = f"no {_LIBRARY}: gradtool runs on the CPU"
        yield Answer(name="CUDA driver", state="missing", found=text, advice=_NO_GPU)
    else:
        text = f"offers CUDA {found[0]}.{found[1]}"
        yield Answer(name="CUDA driver", state="works", found=text)


def driver_version() -> tuple[int, int] | None:
    """The CUDA version that the driver offers; None without one."""
    try:
        library = ctypes.CDLL(_LIBRARY)
        number = ctypes.c_int()
        status = library.cuDriverGetVersion(ctypes.byref(number))
    except (OSError, AttributeError):
        return None
    return None if status or not number.value else (
        number.value // 1000, number.value % 1000 // 10
    )  # fmt: skip


def cupy() -> Iterator[Answer]:
    """Which CuPy is installed, and whether it is one for this driver."""
    installed = installed_cupy()
    offered = driver_version()
    wanted = f"cuda{min(max(offered[0], 12), 13)}" if offered else "cuda12"
    command = f"pip install 'gradtool[{wanted}]'"
    if not installed:
        advice = command if offered else f"{command}, on a machine with an NVIDIA GPU"
        yield Answer(name="CuPy", state="missing", found="not installed", advice=advice)
        return
    text = ", ".join(installed)
    if len(installed) > 1:
        advice = f"pip uninstall {' '.join(each.split()[0] for each in installed)}, then {command}"
        yield Answer(name="CuPy", state="broken", found=f"several: {text}", advice=advice)
        return
    major = cuda_major(installed[0])
    if offered and major and major > offered[0]:
        found = f"{text} is for CUDA {major}, the driver offers {offered[0]}.{offered[1]}"
        yield Answer(name="CuPy", state="broken", found=found, advice=f"{command}, or a new driver")
        return
    import cupy as module

    yield Answer(name="CuPy", state="works", found=f"{text} (imports as {module.__version__})")


def installed_cupy() -> list[str]:
    """The packages that bring a ``cupy``, with their versions."""
    named = [(each.metadata["Name"] or "", each.version) for each in distributions()]
    return sorted({f"{name} {number}" for name, number in named if _BRINGS_CUPY.fullmatch(name)})


def cuda_major(package: str) -> int | None:
    """The CUDA major that ``cupy-cuda12x 14.0`` is for."""
    digits = package.split()[0].removeprefix("cupy-cuda").rstrip("x")
    return int(digits) if digits.isdecimal() else None


def devices() -> Iterator[Answer]:
    """Every device that CuPy sees, with the link as it is while nothing goes over it."""
    from gradtool.device import CUDA

    reason = CUDA.why_unavailable()
    if reason is not None:
        if driver_version() is not None:
            advice = "install CuPy as said above, or look at CUDA_VISIBLE_DEVICES"
            yield Answer(name="CUDA devices", state="broken", found=reason, advice=advice)
        else:
            yield Answer(name="CUDA devices", state="missing", found="none")
        return
    for index in range(CUDA.count()):
        yield from _device(index)


def _device(index: int) -> Iterator[Answer]:
    from gradtool.device import CUDA
    from gradtool.device.arrays import array_module
    from gradtool.transfer.cuda.link import read_link
    from gradtool.transfer.cuda.nvml import nvml_of

    what = CUDA.properties(index)
    found = (
        f"{what.name}, {what.total_memory / 2**30:.0f} GiB, "
        f"compute capability {what.major}.{what.minor}"
    )
    yield Answer(name=f"cuda:{index}", state="works", found=found)
    bus = array_module("cuda").cuda.runtime.deviceGetPCIBusId(index)
    link = read_link(bus, nvml_of(bus))
    if link.unknown:
        yield Answer(name=f"cuda:{index} link", state="note", found=f"unknown: {link.unknown}")
        return
    text = f"PCIe generation {link.generation}, {link.width} lanes, {link.gbps:.1f} GB/s, idle"
    advice = "gradtool profile-transfer reads it under load, when it is faster"
    yield Answer(name=f"cuda:{index} link", state="note", found=text, advice=advice)

"""Probes of CUDA: the driver, CuPy, and the devices with their links."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.device.driver import (
    LIBRARY,
    cuda_major,
    driver_version,
    installed_cupy,
    wanted_extra,
)
from gradtool.doctor.results import ProbeResult

_NO_GPU = "if this machine has an NVIDIA GPU, install its driver"


def driver() -> Iterator[ProbeResult]:
    """Probe the driver's library, which does not need CuPy."""
    found = driver_version()
    if found is None:
        text = f"no {LIBRARY}: gradtool runs on the CPU"
        yield ProbeResult(name="CUDA driver", state="missing", found=text, advice=_NO_GPU)
    else:
        text = f"supports CUDA {found[0]}.{found[1]}"
        yield ProbeResult(name="CUDA driver", state="works", found=text)


def cupy() -> Iterator[ProbeResult]:
    """Probe the installed CuPy, and its match with the driver."""
    installed = installed_cupy()
    offered = driver_version()
    command = f"pip install 'gradtool[{wanted_extra(offered)}]'"
    if not installed:
        advice = command if offered else f"{command}, on a machine with an NVIDIA GPU"
        yield ProbeResult(name="CuPy", state="missing", found="not installed", advice=advice)
        return
    text = ", ".join(installed)
    if len(installed) > 1:
        advice = f"pip uninstall {' '.join(each.split()[0] for each in installed)}, then {command}"
        yield ProbeResult(name="CuPy", state="broken", found=f"several: {text}", advice=advice)
        return
    major = cuda_major(installed[0])
    if offered and major and major > offered[0]:
        found = f"{text} is for CUDA {major}, but the driver supports {offered[0]}.{offered[1]}"
        yield ProbeResult(
            name="CuPy", state="broken", found=found, advice=f"{command}, or update the driver"
        )
        return
    import cupy as module

    yield ProbeResult(name="CuPy", state="works", found=f"{text} (imports as {module.__version__})")


def devices() -> Iterator[ProbeResult]:
    """Probe every device that CuPy sees, with its idle link."""
    from gradtool.device import CUDA

    reason = CUDA.why_unavailable()
    if reason is not None:
        if driver_version() is not None:
            advice = "install CuPy as described above, or check CUDA_VISIBLE_DEVICES"
            yield ProbeResult(name="CUDA devices", state="broken", found=reason, advice=advice)
        else:
            yield ProbeResult(name="CUDA devices", state="missing", found="none")
        return
    missing = CUDA.why_no_kernels()
    if missing is not None:
        yield ProbeResult(name="NVRTC", state="broken", found="not found", advice=missing)
    for index in range(CUDA.count()):
        yield from _device(index)


def _device(index: int) -> Iterator[ProbeResult]:
    from gradtool.device import CUDA
    from gradtool.device.arrays import array_module
    from gradtool.transfer.machines.cuda.link import read_link
    from gradtool.transfer.machines.cuda.nvml import nvml_of

    properties = CUDA.properties(index)
    found = (
        f"{properties.name}, {properties.total_memory / 2**30:.0f} GiB, "
        f"compute capability {properties.major}.{properties.minor}"
    )
    yield ProbeResult(name=f"cuda:{index}", state="works", found=found)
    bus = array_module("cuda").cuda.runtime.deviceGetPCIBusId(index)
    link = read_link(bus, nvml_of(bus))
    if link.unknown:
        yield ProbeResult(name=f"cuda:{index} link", state="note", found=f"unknown: {link.unknown}")
        return
    text = f"PCIe generation {link.generation}, {link.width} lanes, {link.gbps:.1f} GB/s, idle"
    advice = "gradtool profile-transfer measures it under load, where it can be faster"
    yield ProbeResult(name=f"cuda:{index} link", state="note", found=text, advice=advice)

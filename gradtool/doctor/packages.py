"""Probes of Python, and of the packages that gradtool needs or can use."""

from __future__ import annotations

import importlib
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from gradtool.doctor.results import ProbeResult, first_line

OLDEST = (3, 11)
"""Oldest Python that gradtool supports."""

_NUMPY = "pip install --upgrade 'numpy>=2.0'"

_REQUIRED = {"msgspec": "msgspec", "PyYAML": "yaml", "rich": "rich", "typer": "typer"}
"""Package -> module."""

_EXTRAS = {
    "SciPy": ("scipy", "scipy", "faster special functions", "pip install 'gradtool[scipy]'"),
    "PyTorch": ("torch", "torch", "checking with --engine torch", "pip install torch"),
    "watchfiles": ("watchfiles", "watchfiles", "--watch", "pip install 'gradtool[watch]'"),
    "Dask": ("distributed", "distributed", "--executor dask", "pip install 'gradtool[dask]'"),
    "pytest": ("pytest", "pytest", "pytest --gradtool", "pip install pytest"),
}
"""Name -> package, module, purpose, command to install it."""


def python() -> Iterator[ProbeResult]:
    """Probe the interpreter."""
    good = sys.version_info >= OLDEST
    yield ProbeResult(
        name="Python",
        state="works" if good else "broken",
        found=f"{platform.python_version()} ({platform.python_implementation()}, {sys.executable})",
        advice="" if good else f"use Python {'.'.join(map(str, OLDEST))} or newer",
        required=True,
    )


def required() -> Iterator[ProbeResult]:
    """Probe the packages that gradtool always imports."""
    for name, module in _REQUIRED.items():
        yield _imported(name, name, module, f"pip install {name}")


def numpy() -> Iterator[ProbeResult]:
    """Probe NumPy, and the library of linear algebra that it was built with."""
    answer = _imported("NumPy", "numpy", "numpy", _NUMPY)
    if answer.state == "works" and int(answer.found.partition(".")[0]) < 2:
        found = f"{answer.found} is too old"
        answer = ProbeResult(
            name="NumPy", state="broken", found=found, advice=_NUMPY, required=True
        )
    yield answer
    if answer.stops:
        return
    yield ProbeResult(name="BLAS", state="works", found=_blas(importlib.import_module("numpy")))


def _blas(numpy: Any) -> str:
    found = numpy.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    return f"{found.get('name', 'unknown')} {found.get('version', '')}".strip()


def extras() -> Iterator[ProbeResult]:
    """Probe optional packages, without importing them."""
    for name, (package, module, purpose, command) in _EXTRAS.items():
        if find_spec(module) is None:
            advice = f"{command}  (for {purpose})"
            yield ProbeResult(name=name, state="missing", found="not installed", advice=advice)
        else:
            yield ProbeResult(name=name, state="works", found=_version(package))


def _imported(name: str, package: str, module: str, command: str) -> ProbeResult:
    """Import a required package."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:
        return ProbeResult(
            name=name, state="missing", found="not installed", advice=command, required=True
        )
    except Exception as error:  # raised while it loads its own libraries
        advice = command.replace("install", "install --force-reinstall", 1)
        return ProbeResult(
            name=name, state="broken", found=first_line(error), advice=advice, required=True
        )
    return ProbeResult(name=name, state="works", found=_version(package), required=True)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "installed, version unknown"

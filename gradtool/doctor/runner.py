"""Runs the probes one after the other, so that a failing one does not affect the others."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator

from gradtool.doctor.results import DoctorReport, ProbeResult, first_line
from gradtool.package import __version__

Probe = Callable[[], Iterable[ProbeResult]]


def run_probes(probes: Iterable[tuple[str, Probe]] | None = None) -> DoctorReport:
    """Run all probes, or the given pairs of name and probe."""
    selected = _all() if probes is None else probes
    answers = tuple(answer for name, probe in selected for answer in _guarded(name, probe))
    return DoctorReport(gradtool=__version__, answers=answers)


def _guarded(name: str, probe: Probe) -> list[ProbeResult]:
    """Run a probe; an exception becomes a result."""
    found: list[ProbeResult] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.extend(probe())
    except Exception as error:  # a library that fails to load may raise anything
        found.append(ProbeResult(name=name, state="broken", found=first_line(error)))
    return found


def _all() -> Iterator[tuple[str, Probe]]:
    from gradtool.doctor import cuda, machine, packages

    yield "Python", packages.python
    yield "packages", packages.required
    yield "NumPy", packages.numpy
    yield "isolation", machine.isolation
    yield "extras", packages.extras
    yield "driver", cuda.driver
    yield "CuPy", cuda.cupy
    yield "devices", cuda.devices
    yield "page locking", machine.page_locking
    yield "processors", machine.processors
    yield "container", machine.container
    yield "terminal", machine.terminal

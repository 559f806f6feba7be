"""Asks about one thing after the other, so that one that fails takes no other with it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator

from gradtool.doctor.results import DoctorReport, ProbeResult, first_line
from gradtool.package import __version__

Probe = Callable[[], Iterable[ProbeResult]]


def run_probes(probes: Iterable[tuple[str, Probe]] | None = None) -> DoctorReport:
    """Look at everything, or at what `probes` do, each with its name."""
    asked = _all() if probes is None else probes
    answers = tuple(answer for name, probe in asked for answer in _guarded(name, probe))
    return DoctorReport(gradtool=__version__, answers=answers)


def _guarded(name: str, probe: Probe) -> list[ProbeResult]:
    """The answers of a probe, or what it raised."""
    found: list[ProbeResult] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.extend(probe())
    except Exception as error:  # libraries that cannot load theirs raise what they like
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

"""Asks about one thing after the other, so that one that fails takes no other with it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator

from gradtool.doctor.answer import Answer, Examination
from gradtool.package import __version__

Probe = Callable[[], Iterable[Answer]]


def examine(probes: Iterable[tuple[str, Probe]] | None = None) -> Examination:
    """Look at everything, or at what `probes` do, each with its name."""
    asked = _all() if probes is None else probes
    answers = tuple(answer for name, probe in asked for answer in _guarded(name, probe))
    return Examination(gradtool=__version__, answers=answers)


def _guarded(name: str, probe: Probe) -> list[Answer]:
    """The answers of a probe, or what it raised."""
    found: list[Answer] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.extend(probe())
    except Exception as error:  # libraries that cannot load theirs raise what they like
        found.append(Answer(name=name, state="broken", found=first_line(error)))
    return found


def first_line(error: BaseException) -> str:
    """What an exception says, on one line."""
    text = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


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

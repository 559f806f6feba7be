"""The reports that ``--report FORMAT=PATH`` asks for, from the request to the written file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradtool.cli.options.choices import choose
from gradtool.cli.output.destinations import STDOUT, Destination, claim, place_of
from gradtool.cli.output.protected_files import require_free
from gradtool.errors import UsageError
from gradtool.report.formats import FORMATS, renderer
from gradtool.sandbox.interrupts import gently_terminated

Renderer = Callable[[Any], str | bytes]
"""From the report of a command to a text or a picture."""


@dataclass(frozen=True)
class Wanted:
    """Something to be written, and the flag that asks for it."""

    flag: str
    name: str
    render: Renderer


@dataclass(frozen=True)
class Output:
    """One report that was asked for, with its place claimed."""

    wanted: Wanted
    destination: Destination

    @property
    def takes_stdout(self) -> bool:
        """True if it needs standard output for itself."""
        return self.wanted.name == STDOUT

    def write(self, report: Any) -> None:
        """Render the report and put it in its place, complete.

        Raises:
            UsageError: The place could not be written after all.
        """
        content = self.wanted.render(report)
        with _explained(self.wanted):
            self.destination.put(content)


@contextlib.contextmanager
def write_all(outputs: Sequence[Output], report: Any) -> Iterator[bool]:
    """Write every report, then let the outcome be shown, whether or not all could be written.

    Yields whether a report took standard output for itself.

    Raises:
        UsageError: A place could not be written after all; the other reports are complete.
    """
    failed: list[UsageError] = []
    for output in outputs:
        try:
            output.write(report)
        except UsageError as error:
            failed.append(error)
    # Raised only after this: a report that cannot be written must not hide the outcome.
    yield any(output.takes_stdout for output in outputs)
    if failed:
        raise failed[0]


@contextlib.contextmanager
def claimed(
    requests: Sequence[str],
    formats: Mapping[str, str] = FORMATS,
    find: Callable[[str], Renderer] = renderer,
    others: Sequence[Wanted] = (),
    inputs: Sequence[str | None] = (),
) -> Iterator[list[Output]]:
    """Claim a place for every ``FORMAT=PATH`` of `requests` for the time of a run.

    Args:
        requests: As they were typed after ``--report``.
        formats: The formats there are.
        find: Gives the renderer of a format.
        others: What other flags ask for.
        inputs: The files that the run reads or keeps, which no report may replace.

    Raises:
        UsageError: A request is malformed, names no known format or no writable path, or would
            replace what is to be kept.
    """
    everything = [*(_parsed(request, formats, find) for request in requests), *others]
    _refuse_repetition([wanted.name for wanted in everything])
    for wanted in everything:
        with _explained(wanted):
            require_free(wanted.flag, wanted.name, [each for each in inputs if each is not None])
    with gently_terminated(), contextlib.ExitStack() as stack:
        outputs = []
        for wanted in everything:
            with _explained(wanted):
                destination = claim(wanted.name)
            stack.callback(destination.close)
            outputs.append(Output(wanted, destination))
        yield outputs


def _parsed(request: str, formats: Mapping[str, str], find: Callable[[str], Renderer]) -> Wanted:
    form, _, name = request.partition("=")
    choose(form, list(formats), "format for --report:")
    if not name:
        raise UsageError(f"--report {request}: no file named; write --report {form}=PATH")
    return Wanted("--report", name, lambda report: find(form)(report))


def _refuse_repetition(names: list[str]) -> None:
    places = [place_of(name) for name in names]
    for name, place in zip(names, places, strict=True):
        if places.count(place) > 1:
            raise UsageError(f"--report: two reports for {name}; give each its own file")


@contextlib.contextmanager
def _explained(wanted: Wanted) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"{wanted.flag}: cannot write {wanted.name}: {reason}") from error

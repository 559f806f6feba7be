"""Reports of ``--report FORMAT=PATH``, from the request to the written file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gradtool.cli.options.choices import choose
from gradtool.cli.output.destinations import STDOUT, Destination, claim, place_of
from gradtool.cli.output.protected_files import require_free
from gradtool.errors import UsageError
from gradtool.report.formats import FORMATS, renderer
from gradtool.sandbox.interrupts import gently_terminated

Renderer = Callable[[Any], str | bytes]
"""From the report of a command to a text or a picture."""


class OutputRequest(msgspec.Struct, frozen=True):
    """A file to write, and the flag that requests it."""

    flag: str
    name: str
    render: Renderer


class Output(msgspec.Struct, frozen=True):
    """A requested report with its destination."""

    request: OutputRequest
    destination: Destination

    @property
    def takes_stdout(self) -> bool:
        """True if it needs standard output for itself."""
        return self.request.name == STDOUT

    def write(self, report: Any) -> None:
        """Render the report and put it in its place, complete.

        Raises:
            UsageError: Writing failed.
        """
        content = self.request.render(report)
        with _write_errors_named(self.request):
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
def claim_outputs(
    requests: Sequence[str],
    formats: Mapping[str, str] = FORMATS,
    others: Sequence[OutputRequest] = (),
    inputs: Sequence[str | None] = (),
) -> Iterator[list[Output]]:
    """Claim a place for every ``FORMAT=PATH`` of `requests` for the duration of a run.

    Args:
        requests: The values of ``--report``.
        formats: The known formats.
        others: Requests of other flags.
        inputs: The files that the run reads or keeps, which no report may replace.

    Raises:
        UsageError: A request is malformed, names no known format or no writable path, or would
            replace a protected file.
    """
    everything = [*(_parsed(request, formats) for request in requests), *others]
    _refuse_repetition([request.name for request in everything])
    for request in everything:
        with _write_errors_named(request):
            require_free(request.flag, request.name, [each for each in inputs if each is not None])
    with gently_terminated(), contextlib.ExitStack() as stack:
        outputs = []
        for request in everything:
            with _write_errors_named(request):
                destination = claim(request.name)
            stack.callback(destination.close)
            outputs.append(Output(request, destination))
        yield outputs


def _parsed(request: str, formats: Mapping[str, str]) -> OutputRequest:
    form, _, name = request.partition("=")
    if not name and "." in form:
        raise UsageError(f"--report {request}: put the format first, such as html={request}")
    choose(form, list(formats), "format for --report:")
    if not name:
        raise UsageError(f"--report {request}: no file given; write --report {form}=PATH")
    return OutputRequest("--report", name, lambda report: renderer(form, formats)(report))


def _refuse_repetition(names: list[str]) -> None:
    places = [place_of(name) for name in names]
    for name, place in zip(names, places, strict=True):
        if places.count(place) > 1:
            raise UsageError(f"--report: two reports for {name}; give each its own file")


@contextlib.contextmanager
def _write_errors_named(request: OutputRequest) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = _reason(error, request.name)
        raise UsageError(f"{request.flag}: cannot write {request.name}: {reason}") from error


def _reason(error: OSError, name: str) -> str:
    folder = Path(name).parent
    if isinstance(error, FileNotFoundError) and not folder.exists():
        return f"folder {folder} does not exist"
    return error.strerror or type(error).__name__

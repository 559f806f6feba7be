"""The reports that ``--report FORMAT=PATH`` asks for, from the request to the written file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradtool.cli.choices import choose
from gradtool.cli.targets import STDOUT, Target, claim
from gradtool.gate.options import UsageError
from gradtool.report.formats import FORMATS, renderer
from gradtool.results import Report


@dataclass(frozen=True)
class Output:
    """One report that was asked for, with its place claimed."""

    form: str
    name: str
    target: Target

    @property
    def takes_stdout(self) -> bool:
        """Whether it needs standard output for itself."""
        return self.name == STDOUT

    def write(self, report: Report) -> None:
        """Render the report and put it in its place, complete.

        Raises:
            UsageError: The place could not be written after all.
        """
        text = renderer(self.form)(report)
        with _explained(self.name):
            self.target.put(text)


@contextlib.contextmanager
def write_all(outputs: Sequence[Output], report: Report) -> Iterator[bool]:
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
    yield any(output.takes_stdout for output in outputs)
    if failed:
        raise failed[0]


@contextlib.contextmanager
def claimed(requests: Sequence[str]) -> Iterator[list[Output]]:
    """Claim a place for every ``FORMAT=PATH`` of `requests` for the time of a run.

    Raises:
        UsageError: A request is malformed, names no known format or no writable path.
    """
    pairs = [_parsed(request) for request in requests]
    _refuse_repetition([name for _, name in pairs])
    with contextlib.ExitStack() as stack:
        outputs = []
        for form, name in pairs:
            with _explained(name):
                target = claim(name)
            stack.callback(target.close)
            outputs.append(Output(form, name, target))
        yield outputs


def _parsed(request: str) -> tuple[str, str]:
    form, _, name = request.partition("=")
    choose(form, list(FORMATS), "format for --report:")
    if not name:
        raise UsageError(f"--report {request}: no file named; write --report {form}=PATH")
    return form, name


def _refuse_repetition(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--report: two reports for {name}; give each its own file")


@contextlib.contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"--report: cannot write {name}: {reason}") from error

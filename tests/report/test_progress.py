"""The progress on a terminal: it says what is under way, and is gone at the end."""

import io

from gradtool.report.terminal.console import make_console
from gradtool.report.terminal.progress import LiveProgress
from gradtool.results.report import CaseResult, CheckResult, FunctionResult, Location, Verdict


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def case(verdict: Verdict, name: str = "c") -> CaseResult:
    return CaseResult(name=name, checks=(CheckResult(rule="GT101", verdict=verdict),))


def test_it_shows_the_case_the_count_and_the_failures_and_then_clears_its_line() -> None:
    stream = Terminal()
    with LiveProgress(make_console(stream, "never", width=100)) as progress:
        progress.started(2)
        progress.case_started("a.py::[weird][c]")
        progress.case_finished("[weird]", case(Verdict.FAIL))
        progress.case_started("a.py::G[c]")
        progress.case_finished("G", case(Verdict.PASS))
        for name in ("[weird]", "G"):
            location = Location(path="a.py")
            progress.function_finished("a.py", FunctionResult(name=name, location=location))
    drawn = stream.getvalue()
    assert "2/2" in drawn
    assert "1 failed" in drawn
    assert "a.py::G[c]" in drawn
    assert drawn.endswith(("\x1b[1A\x1b[2K", "\r\x1b[2K"))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def function(name: str) -> FunctionResult:
    return FunctionResult(name=name, location=Location(path="a.py"))


def drawn_by(stream: Terminal, progress: LiveProgress) -> str:
    """The line as it is drawn now."""
    stream.seek(0)
    stream.truncate()
    progress._progress.refresh()
    return stream.getvalue()


def test_the_case_that_runs_longest_is_named_with_its_time_and_the_time_left() -> None:
    stream, clock = Terminal(), Clock()
    with LiveProgress(make_console(stream, "never", width=140), clock) as progress:
        progress.started(3)
        progress.case_started("a.py::Hang[c]")
        assert "a.py::Hang[c]" in drawn_by(stream, progress)
        clock.now = 10.0
        progress.case_started("a.py::Quick[c]")
        progress.case_finished("Quick", case(Verdict.PASS))
        progress.function_finished("a.py", function("Quick"))
        line = drawn_by(stream, progress)
        assert "10 s in a.py::Hang[c]" in line
        assert "10 s, about 20 s left" in line


def test_a_case_that_was_ended_from_outside_is_no_longer_named() -> None:
    stream, clock = Terminal(), Clock()
    with LiveProgress(make_console(stream, "never", width=140), clock) as progress:
        progress.started(2)
        progress.case_started("a.py::Hang[c]")
        progress.case_started("a.py::Next[c]")
        progress.function_finished("a.py", function("Hang"))
        line = drawn_by(stream, progress)
        assert "Hang" not in line
        assert "a.py::Next[c]" in line


def test_what_is_explored_is_named_with_the_time_since_exploring_began() -> None:
    stream, clock = Terminal(), Clock()
    with LiveProgress(make_console(stream, "never", width=140), clock) as progress:
        progress.started(1)
        progress.exploring("a.py::Op", "extents")
        clock.now = 3.0
        progress.exploring("a.py::Op", "ties")
        assert "3.0 s in a.py::Op[exploring ties]" in drawn_by(stream, progress)
        progress.function_finished("a.py", function("Op"))
        assert "exploring" not in drawn_by(stream, progress)

"""The progress on a terminal: it says what is under way, and is gone at the end."""

import io

from gradtool.report.terminal.console import make_console
from gradtool.report.terminal.progress import LiveProgress
from gradtool.results.report import CaseResult, CheckResult, FunctionResult, Location, Verdict


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def case(verdict: Verdict) -> CaseResult:
    return CaseResult(name="c", checks=(CheckResult(rule="GT101", verdict=verdict),))


def test_it_shows_the_case_the_count_and_the_failures_and_then_clears_its_line() -> None:
    stream = Terminal()
    with LiveProgress(make_console(stream, "never", width=100)) as progress:
        progress.started(2)
        progress.case_started("a.py::[weird][c]")
        progress.case_finished("F", case(Verdict.FAIL))
        progress.case_started("a.py::G[c]")
        progress.case_finished("G", case(Verdict.PASS))
        for name in ("F", "G"):
            location = Location(path="a.py")
            progress.function_finished("a.py", FunctionResult(name=name, location=location))
    drawn = stream.getvalue()
    assert "2/2" in drawn
    assert "1 failed" in drawn
    assert "a.py::G[c]" in drawn
    assert drawn.endswith(("\x1b[1A\x1b[2K", "\r\x1b[2K"))

"""The slowest rules and Functions that ``--durations`` lists."""

import msgspec
import pytest

from gradtool.report.terminal import plain
from gradtool.results.report import CaseResult, FunctionResult, Location, ModuleResult, Report

AT = Location(path="ops.py", line=1)


@pytest.fixture
def timed(report: Report) -> Report:
    """Two Functions: 10 s of cases, of which rules took 8.002 s, and 6 s of exploring."""
    first = CaseResult(name="a", seconds=4.0, durations={"GT101": 1.0, "GT201": 2.0})
    second = CaseResult(name="b", seconds=4.0, durations={"GT101": 3.0, "GT505": 0.002})
    third = CaseResult(name="c", seconds=2.0, durations={"GT101": 2.0})
    slow = FunctionResult(name="Slow", location=AT, cases=(first, second), exploring=6.0)
    quick = FunctionResult(name="Quick", location=AT, cases=(third,))
    module = ModuleResult(path="ops.py", functions=(quick, slow))
    return msgspec.structs.replace(report, modules=(module,))


def listed(report: Report, most: int, verbosity: int = 0) -> list[str]:
    """The lines of both lists, with single spaces."""
    text = plain(report, durations=most, verbosity=verbosity)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    start = next(at for at, line in enumerate(lines) if line.startswith("slowest"))
    return lines[start:-1]


def test_rules_and_functions_are_listed_from_the_slowest_on(timed: Report) -> None:
    names = {rule.code: rule.name for rule in timed.rules}
    assert listed(timed, 0)[:10] == [
        "slowest rules",
        f"6.0 s 38% GT101 {names['GT101']} 3 cases",
        "6.0 s 38% exploring beyond the cases 1 Function",
        "2.0 s 12% GT201 1 case",
        "2.0 s 12% preparing, and writing findings",
        "(1 duration under 5 ms hidden; -vv shows all)",
        "",
        "slowest Functions",
        "14 s 88% ops.py::Slow 2 cases, 6.0 s exploring",
        "2.0 s 12% ops.py::Quick 1 case",
    ]


def test_a_number_limits_each_list(timed: Report) -> None:
    lines = listed(timed, 1)
    assert lines[0] == "slowest 1 rules"
    rows = [line for line in lines if " s " in line and "%" in line]
    assert [line.split()[0] for line in rows] == ["6.0", "14"]


def test_short_durations_need_vv(timed: Report) -> None:
    assert not any("GT505" in line for line in listed(timed, 0))
    assert any("2 ms" in line and "GT505" in line for line in listed(timed, 0, verbosity=2))


def test_an_untimed_report_lists_no_durations(timed: Report) -> None:
    assert "slowest" not in plain(timed)


def test_a_run_without_functions_lists_nothing(report: Report) -> None:
    empty = msgspec.structs.replace(report, modules=())
    assert listed(empty, 3)[:3] == ["slowest 3 rules", "", "slowest 3 Functions"]

"""``--ff``: what failed is begun first, and answers stay in the order of the source."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtool.checking.unit import Discovery, DiscoveryResult, Unit, UnitResult
from gradtool.config.options import Unwatched, Watcher
from gradtool.config.settings import Settings
from gradtool.results.report import FunctionResult, Location
from gradtool.run.executors.executor import UnitResults
from gradtool.run.runner import check_in_order

UNITS = [
    Unit(path=f"/{shown}", shown=shown, function=name, settings=Settings())
    for shown in ("a.py", "b.py")
    for name in ("F", "G", "H")
]
NODES = [unit.node for unit in UNITS]


class Recorder:
    """An executor that answers with the name of what it was asked, `at_most` so many times."""

    numpy = ""

    def __init__(self, at_most: int = 100) -> None:
        self.begun: list[str] = []
        self._at_most = at_most

    def require_devices(self, devices: Sequence[str]) -> None:
        raise AssertionError(devices)

    def discover(self, discoveries: Sequence[Discovery]) -> list[DiscoveryResult]:
        raise AssertionError(discoveries)

    def collect(self, units: Sequence[Unit]) -> list[UnitResult]:
        raise AssertionError(units)

    def check(self, units: Sequence[Unit], watcher: Watcher) -> UnitResults:
        self.begun = [unit.node for unit in units]
        done = [self._answer(unit) if i < self._at_most else None for i, unit in enumerate(units)]
        return UnitResults(done, interrupted=len(units) > self._at_most)

    def _answer(self, unit: Unit) -> UnitResult:
        return UnitResult(
            function=FunctionResult(name=unit.node, location=Location(path=unit.shown))
        )


def names(outcome: UnitResults) -> list[str | None]:
    return [done and done.function.name for done in outcome.done]


@pytest.mark.parametrize(
    ("first", "begun"),
    [
        ((), [0, 1, 2, 3, 4, 5]),
        (("b.py::G",), [4, 0, 1, 2, 3, 5]),
        (("b.py::H", "a.py::G", "gone.py::F"), [1, 5, 0, 2, 3, 4]),
        (("b.py",), [3, 4, 5, 0, 1, 2]),
    ],
)
def test_what_failed_is_begun_first_in_its_own_order(
    first: tuple[str, ...], begun: list[int]
) -> None:
    executor = Recorder()
    outcome = check_in_order(executor, UNITS, first, Unwatched())
    assert executor.begun == [NODES[i] for i in begun]
    assert names(outcome) == NODES


@given(st.sets(st.sampled_from([*NODES, "a.py", "b.py"])), st.integers(0, 6))
def test_each_answer_is_at_the_place_of_its_unit(first: set[str], at_most: int) -> None:
    executor = Recorder(at_most)
    outcome = check_in_order(executor, UNITS, first, Unwatched())
    answered = set(executor.begun[:at_most])
    assert names(outcome) == [node if node in answered else None for node in NODES]
    assert outcome.interrupted is (at_most < len(UNITS))

"""No module talks the gate into a pass, for itself or for the modules beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gradtool.results.report import Report
from tests.hostile import runs
from tests.hostile.modules import PASSING, TAMPERING, UNEVIDENCED, Module

pytestmark = pytest.mark.skipif(runs.needs_fork, reason="isolation needs fork")

EVERY = 9
"""The fast selection takes one module of so many; the slow one takes all."""


def require_judged(folder: Path, modules: Sequence[Module], *arguments: str) -> None:
    """Check the modules together, and compare what is found with what must be."""
    runs.write(folder, **{module.name: module.source for module in modules})
    status, report = runs.check(folder, ".", "--timeout", "20", *arguments)
    assert status == (1 if any(module.found for module in modules) else 0)
    assert not report.faults
    assert [problem for module in modules if (problem := _problem(module, report))] == []


def _problem(module: Module, report: Report) -> str:
    found, passes = runs.found_in(report, module.file), runs.passes(report, module.file)
    is_expected = bool(found & module.found) if module.found else not found
    return "" if is_expected and passes is not bool(module.found) else f"{module.name}: {found}"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_some_of_every_kind_are_judged_as_they_are(tmp_path: Path, jobs: str) -> None:
    first = int(jobs)
    chosen = [*TAMPERING[first::EVERY], *PASSING[first::EVERY], *UNEVIDENCED[first::3]]
    require_judged(tmp_path, chosen, "-j", jobs)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tampering", "passing", "unevidenced"])
def test_all_are_judged_as_they_are(tmp_path: Path, kind: str) -> None:
    kinds = {"tampering": TAMPERING, "passing": PASSING, "unevidenced": UNEVIDENCED}
    require_judged(tmp_path, kinds[kind])


def test_there_are_many() -> None:
    names = [module.name for module in (*TAMPERING, *PASSING, *UNEVIDENCED)]
    assert len(names) == len(set(names)) >= 150

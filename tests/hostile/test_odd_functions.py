"""A wrong gradient is an error however odd its Function is, and no other module is harmed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.hostile import runs
from tests.hostile.modules import HEAD, function
from tests.hostile.odd_functions import ODD_FUNCTIONS

pytestmark = pytest.mark.skipif(runs.needs_fork, reason="isolation needs fork")

EVERY = 5
"""The fast selection takes one module of so many; the slow one takes all."""


def require_errors(folder: Path, names: Sequence[str]) -> None:
    """Check the modules beside a right one."""
    right = HEAD + function(right=True)
    runs.write(folder, a_right=right, z_right=right, **{n: ODD_FUNCTIONS[n] for n in names})
    status, report = runs.check(folder, ".", "--timeout", "20")
    assert not report.faults
    assert status == 1
    assert runs.passes(report, "a_right.py")
    assert runs.passes(report, "z_right.py")
    assert [name for name in names if not runs.found_in(report, f"{name}.py")] == []


def test_some_odd_functions_are_errors(tmp_path: Path) -> None:
    require_errors(tmp_path, sorted(ODD_FUNCTIONS)[::EVERY])


@pytest.mark.slow
def test_all_odd_functions_are_errors(tmp_path: Path) -> None:
    require_errors(tmp_path, sorted(ODD_FUNCTIONS))

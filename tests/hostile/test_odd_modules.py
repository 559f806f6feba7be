"""An odd module is named, and all others are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import runs
from tests.hostile.modules import HEAD, function
from tests.hostile.odd_modules import ODD

pytestmark = pytest.mark.skipif(runs.needs_fork, reason="isolation needs fork")


def test_every_odd_module_is_named_and_the_others_are_checked(tmp_path: Path) -> None:
    runs.write(
        tmp_path, **ODD, a_right=HEAD + function(right=True), z_wrong=HEAD + function(right=False)
    )
    status, report = runs.check(tmp_path, *[f"{name}.py" for name in ("a_right", *ODD, "z_wrong")])
    assert status == 1
    assert runs.passes(report, "a_right.py")
    assert runs.found_in(report, "z_wrong.py") == {"GT101"}
    for name in ODD:
        assert runs.found_in(report, f"{name}.py") == {"GT001"}, name


def test_a_report_does_not_depend_on_the_number_of_workers_or_the_hash_seed(tmp_path: Path) -> None:
    runs.write(tmp_path, a=HEAD + function(right=True), b=HEAD + function(right=False))
    runs.write(tmp_path, c=ODD["wrapped_cycle"])
    found = []
    for jobs, seed in (("1", "0"), ("2", "77")):
        _, report = runs.check(tmp_path, ".", "-j", jobs, PYTHONHASHSEED=seed)
        found.append(runs.timeless(report))
    assert found[0] == found[1]

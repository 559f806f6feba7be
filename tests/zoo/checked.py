"""What gradtool says of the zoo: all of a file in one run, as a user would check it.

``GRADTOOL_ZOO_SEEDS=20`` sets the number of seeds, two by default. Only the first is not slow.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from gradtool.results.report import FunctionResult
from gradtool.run.runner import check
from tests.options import check_options
from tests.zoo.members import Member, results, strict_findings

SEEDS = [
    pytest.param(seed, marks=pytest.mark.slow if seed else ())
    for seed in range(int(os.environ.get("GRADTOOL_ZOO_SEEDS", "2")))
]


def checked(member: Member, seed: int) -> FunctionResult:
    """What came of a member."""
    found = _run(member.path, seed)
    if isinstance(found, Exception):
        raise found
    return found[member.id]


def found(member: Member, seed: int) -> list[tuple[str, str]]:
    """The rules a member trips, each with what was said."""
    findings = strict_findings(checked(member, seed))
    return [(finding.rule, finding.message) for finding in findings]


@cache
def _run(path: Path, seed: int) -> dict[str, FunctionResult] | Exception:
    try:
        return results(check(check_options(paths=(str(path),), strict=True, seed=seed)))
    except Exception as error:  # Raised for every member, without another run for each.
        return error

"""What gradtool says of the zoo: all of a kind in one run, as a user would check a folder.

``GRADTOOL_ZOO_SEEDS=20`` sets the number of seeds, two by default. Only the first is not slow.
"""

from __future__ import annotations

import os
from functools import cache

import pytest

from gradtool.results.report import FunctionResult
from gradtool.run.runner import check
from tests.options import check_options
from tests.zoo.members import ZOO, Member, results, strict_findings

SEEDS = [
    pytest.param(seed, marks=pytest.mark.slow if seed else ())
    for seed in range(int(os.environ.get("GRADTOOL_ZOO_SEEDS", "2")))
]


def checked(kind: str, seed: int) -> dict[str, FunctionResult]:
    """What came of each of a kind, by the id of its member."""
    found = _run(kind, seed)
    if isinstance(found, Exception):
        raise found
    return found


def found(member: Member, kind: str, seed: int) -> list[tuple[str, str]]:
    """The rules a member trips, each with what was said."""
    findings = strict_findings(checked(kind, seed)[member.id])
    return [(finding.rule, finding.message) for finding in findings]


@cache
def _run(kind: str, seed: int) -> dict[str, FunctionResult] | Exception:
    try:
        return results(check(check_options(paths=(str(ZOO / kind),), strict=True, seed=seed)))
    except Exception as error:  # Told of every member, without another run for each.
        return error

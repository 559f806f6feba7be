"""The zoo: every wrong Function trips its rules and no others, no right one trips any.

``GRADTOOL_ZOO_SEEDS=20`` runs it at as many seeds; without it there are two.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

from gradtool.gate.options import CheckOptions
from gradtool.gate.runner import check
from gradtool.results import FunctionResult, Verdict
from gradtool.verify.rules import RULES
from tests.zoo.members import DIAGNOSES, ZOO, Member, members, results, strict_findings

of_the_wrong = pytest.mark.xdist_group("wrong zoo")
of_the_right = pytest.mark.xdist_group("right zoo")
"""One process checks all of a kind."""

SEEDS = range(int(os.environ.get("GRADTOOL_ZOO_SEEDS", "2")))

WRONG = [member for member in members("wrong") if member.expect <= RULES.keys()]
WAITING = [member for member in members("wrong") if member not in WRONG]
RIGHT = members("right")

NAMED_AT_LEAST = 0.9


def by_id(member: Member) -> str:
    return member.id


def checked(kind: str, seed: int) -> dict[str, FunctionResult]:
    """All of one kind in one run, as a user would check a folder."""
    found = _run(kind, seed)
    if isinstance(found, Exception):
        raise found
    return found


@cache
def _run(kind: str, seed: int) -> dict[str, FunctionResult] | Exception:
    try:
        return results(check(CheckOptions(paths=(str(ZOO / kind),), strict=True, seed=seed)))
    except Exception as error:  # Told of every member, without another run for each.
        return error


def found(member: Member, kind: str, seed: int) -> list[tuple[str, str]]:
    """The rules a member trips, each with what was said."""
    findings = strict_findings(checked(kind, seed)[member.id])
    return [(finding.rule, finding.message) for finding in findings]


def test_the_zoo_is_large_enough() -> None:
    assert len(members("wrong")) >= 120
    assert len(RIGHT) >= 80


def test_no_wrong_function_waits_for_a_rule() -> None:
    if WAITING:
        rules = sorted(set.union(*(set(m.expect) for m in WAITING)) - RULES.keys())
        pytest.skip(f"{len(WAITING)} wrong Functions wait for {', '.join(rules)}")


def test_every_wrong_function_says_what_it_trips() -> None:
    assert [member.id for member in members("wrong") if not member.expect] == []


def test_every_wrong_gradient_says_what_mistake_it_is() -> None:
    silent = [m.id for m in members("wrong") if "GT101" in m.expect and m.diagnosis is None]
    unknown = [m.id for m in members("wrong") if m.diagnosis not in {None, "other", *DIAGNOSES}]
    assert (silent, unknown) == ([], [])


@of_the_wrong
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("member", WRONG, ids=by_id)
def test_a_wrong_function_trips_exactly_its_rules(member: Member, seed: int) -> None:
    said = found(member, "wrong", seed)
    assert {rule for rule, _ in said} == member.expect, said


@of_the_wrong
@pytest.mark.parametrize("member", WRONG, ids=by_id)
def test_a_finding_points_to_the_place_of_the_mistake(member: Member) -> None:
    findings = strict_findings(checked("wrong", 0)[member.id])
    assert {f.location.line for f in findings if f.rule in member.expect} == {member.line}
    assert {Path(f.location.path).name for f in findings} == {member.path.name}


@of_the_right
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("member", RIGHT, ids=by_id)
def test_a_right_function_passes_under_strict(member: Member, seed: int) -> None:
    assert found(member, "right", seed) == []
    assert checked("right", seed)[member.id].verdict is Verdict.PASS


@of_the_right
@pytest.mark.parametrize("member", RIGHT, ids=by_id)
def test_the_gradient_of_a_right_function_was_really_compared(member: Member) -> None:
    verdicts = [
        check.verdict
        for case in checked("right", 0)[member.id].cases
        for check in case.checks
        if check.rule == "GT101"
    ]
    assert verdicts
    assert set(verdicts) == {Verdict.PASS}


@of_the_wrong
def test_the_diagnosis_names_the_mistake() -> None:
    wrong = [member for member in WRONG if member.diagnosis in DIAGNOSES]
    unnamed = [member.id for member in wrong if not is_named(member)]
    assert len(unnamed) <= (1 - NAMED_AT_LEAST) * len(wrong), unnamed


def is_named(member: Member) -> bool:
    """Whether the hint speaks of the mistake that the member was given."""
    hints = " ".join(f.hint or "" for f in strict_findings(checked("wrong", 0)[member.id]))
    return bool(re.search(DIAGNOSES[str(member.diagnosis)], hints))


def test_the_page_of_what_is_found_tells_of_every_wrong_function() -> None:
    page = (ZOO.parents[1] / "docs" / "detection.md").read_text(encoding="utf-8")
    assert [m.id for m in members("wrong") if f"| `{m.id}` |" not in page] == []

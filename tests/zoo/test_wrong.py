"""Every wrong Function of the zoo trips its rules and no others, at the place of its mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradtool.verify.rules import RULES
from tests.zoo.checked import SEEDS, checked, found
from tests.zoo.members import DIAGNOSES, ZOO, Member, by_id, members, strict_findings

WRONG = members("wrong")

NAMED_AT_LEAST = 0.94


def test_there_are_enough() -> None:
    assert len(WRONG) >= 120


def test_each_says_what_it_trips() -> None:
    assert [member.id for member in WRONG if not member.expect] == []


def test_each_trips_rules_that_there_are() -> None:
    assert sorted(set().union(*(member.expect for member in WRONG)) - RULES.keys()) == []


def test_each_wrong_gradient_says_what_mistake_it_is() -> None:
    silent = [m.id for m in WRONG if "GT101" in m.expect and m.diagnosis is None]
    unknown = [m.id for m in WRONG if m.diagnosis not in {None, "other", *DIAGNOSES}]
    assert (silent, unknown) == ([], [])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("member", WRONG, ids=by_id)
def test_it_trips_exactly_its_rules(member: Member, seed: int) -> None:
    said = found(member, seed)
    assert {rule for rule, _ in said} == member.expect, said


@pytest.mark.parametrize("member", WRONG, ids=by_id)
def test_a_finding_points_to_the_place_of_the_mistake(member: Member) -> None:
    findings = strict_findings(checked(member, 0))
    assert {f.location.line for f in findings if f.rule in member.expect} == {member.line}
    assert {Path(f.location.path).name for f in findings} == {member.path.name}


def test_the_diagnosis_names_the_mistake() -> None:
    wrong = [member for member in WRONG if member.diagnosis]
    unnamed = [member.id for member in wrong if not is_named(member)]
    assert len(unnamed) <= (1 - NAMED_AT_LEAST) * len(wrong), unnamed


def is_named(member: Member) -> bool:
    """True if the hint names the step, an edit that undoes the mistake, or else its kind."""
    hints = " ".join(f.hint or "" for f in strict_findings(checked(member, 0)))
    if member.says:
        return member.says in hints
    kind = DIAGNOSES.get(str(member.diagnosis))
    return " is right with" in hints or (kind is not None and bool(re.search(kind, hints)))


def test_the_page_of_what_is_found_tells_of_each() -> None:
    page = (ZOO.parents[1] / "docs" / "detection-table.md").read_text(encoding="utf-8")
    assert [m.id for m in WRONG if f"| `{m.id}` |" not in page] == []

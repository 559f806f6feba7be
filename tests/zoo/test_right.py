"""No right Function of the zoo trips a rule, and each was really looked at."""

from __future__ import annotations

import pytest

from gradtool.results.report import Verdict
from tests.zoo.checked import SEEDS, checked, found
from tests.zoo.members import Member, by_id, members

RIGHT = members("right")


def test_there_are_enough() -> None:
    assert len(RIGHT) >= 80


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("member", RIGHT, ids=by_id)
def test_it_passes_under_strict(member: Member, seed: int) -> None:
    assert found(member, seed) == []
    assert checked(member, seed).verdict is Verdict.PASS


@pytest.mark.parametrize("member", RIGHT, ids=by_id)
def test_its_gradient_was_really_compared(member: Member) -> None:
    verdicts = [
        check.verdict
        for case in checked(member, 0).cases
        for check in case.checks
        if check.rule == "GT101"
    ]
    assert verdicts
    assert set(verdicts) == {Verdict.PASS}

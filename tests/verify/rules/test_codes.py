"""Messages about unknown rule codes suggest the rule or family that was meant."""

from __future__ import annotations

import pytest

from gradtool.errors import UsageError
from gradtool.verify.rules import codes


@pytest.mark.parametrize("code", ["GT101", "GT10", "GT1", "GT"])
def test_rules_and_families_are_known(code: str) -> None:
    assert codes.problem_with(code) is None


@pytest.mark.parametrize(
    ("code", "near"),
    [
        ("gt101", " (did you mean 'GT101'?)"),
        ("gt1", " (did you mean 'GT1'?)"),
        ("Gt10", " (did you mean 'GT10'?)"),
        ("GT55", " (did you mean 'GT505'?)"),
        ("GT1O1", " (did you mean 'GT101'?)"),
        ("gtl0i", " (did you mean 'GT101'?)"),
        ("GT5050", " (did you mean 'GT505'?)"),
        ("wrong-gradent", " (did you mean 'wrong-gradient'?)"),
        ("GT999", " (gradtool explain lists them all)"),
        ("X999", " (gradtool explain lists them all)"),
        ("", " (gradtool explain lists them all)"),
    ],
)
def test_another_code_is_told_with_what_was_meant(code: str, near: str) -> None:
    assert codes.problem_with(code) == f"unknown rule {code!r}{near}"


def test_a_family_in_small_letters_is_named_by_its_option() -> None:
    with pytest.raises(UsageError, match=r"--ignore: unknown rule 'gt1' \(did you mean 'GT1'\?\)"):
        codes.require_known(["gt1"], "--ignore")

"""Rules that are ignored needlessly are named."""

from __future__ import annotations

import pytest

from gradtool.findings.needless_ignore import named


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (["GT101"], "GT101"),
        (["GT105", "GT509"], "GT105 and GT509"),
        (["GT201", "GT202", "GT203"], "GT201, GT202 and GT203"),
        (["GT201", "GT202", "GT203", "GT204"], "GT201 to GT204"),
    ],
)
def test_rules_are_named_one_by_one_and_a_family_by_its_ends(rules: list[str], text: str) -> None:
    assert named(rules) == text

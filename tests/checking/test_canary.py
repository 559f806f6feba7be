"""A checker that misjudges gives itself away."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.checking.canary import misjudgement


@pytest.mark.parametrize("thoroughly", [True, False])
def test_both_functions_are_judged_as_they_should_be(thoroughly: bool) -> None:
    assert [misjudgement(seed, thoroughly=thoroughly) for seed in range(5)] == [None] * 5


@pytest.mark.parametrize(("roundings", "word"), [(np.inf, "accepted"), (-1.0, "rejected")])
def test_a_comparison_that_was_broken_is_noticed(
    roundings: float, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "gradtool.verify.comparison.projection._roundings", lambda *_: np.array(roundings)
    )
    assert word in (misjudgement(0, thoroughly=False) or "")

"""Numbers that docstrings mention are read as values that arguments may have."""

from __future__ import annotations

import pytest

from gradtool.explore.reading.mentioned_values import mentioned, speaks_of_infinity


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("gamma = 0 gives the plain loss.", [0.0]),
        ("A `gamma` of 0.5 keeps easy ones longer.", [0.5]),
        ("Norms for gamma >= 1 or gamma = inf.", [float("inf"), 1.0]),
        ("for 0 <= gamma < 1.", [0.0]),
        ("for 0 <= 2 * gamma < n.", [0.0]),
        ("for 0 <= gamma <= 1.", [0.0, 1.0]),
        ("for 0 < gamma, x + 1 <= gamma * x and gamma >= 1 - x.", []),
        ("With gamma=1, or with gamma=-2.", [1.0, -2.0]),
        ("gamma = 0 is not allowed.", []),
        ("Raises if gamma = 0.", []),
        ("epsilon_gamma = 3", []),
        ("gamma weighs all of 3 terms", []),
    ],
)
def test_numbers_beside_a_name_are_values_of_it(text: str, values: list[float]) -> None:
    assert mentioned(text, ("gamma", "x")).get("gamma", []) == values


@pytest.mark.parametrize("text", ["either may be infinite", "a one-sided range", "hi = inf"])
def test_words_for_what_has_no_bound(text: str) -> None:
    assert speaks_of_infinity(text)


@pytest.mark.parametrize("text", ["an inference step", "information", ""])
def test_other_words_speak_of_no_infinity(text: str) -> None:
    assert not speaks_of_infinity(text)

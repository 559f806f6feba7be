"""The record of what CuPy offers is true of the real package, where that is installed."""

from __future__ import annotations

import pytest

from tests.device import facts


def test_the_record_is_what_the_installed_cupy_says() -> None:
    if facts.INSTALLED is None:
        pytest.skip("holds the record of CuPy to the real package, which is not installed")
    record = facts.recorded()
    if facts.INSTALLED.__version__ != record["version"]:
        pytest.skip(f"the record is of CuPy {record['version']}")
    assert facts.facts() == record


@pytest.mark.parametrize(
    ("text", "args", "names"),
    [
        ("a, axis=", (1,), {"axis": 2}),
        ("x1, x2, /, out=, *, dtype=", (1, 2), {"dtype": 3}),
        ("*shape, order=", (1, 2, 3), {"order": "C"}),
        ("", (), {}),
    ],
)
def test_calls_that_fit(text: str, args: tuple[int, ...], names: dict[str, object]) -> None:
    facts.hold_to(text, "f", args, names)


@pytest.mark.parametrize(
    ("text", "args", "names"),
    [
        ("a, axis=", (), {}),
        ("a, axis=", (1,), {"keepdims": True}),
        ("x1, /, out=", (), {"x1": 1}),
        ("x1, *, dtype=", (1, 2), {}),
    ],
)
def test_calls_that_do_not(text: str, args: tuple[int, ...], names: dict[str, object]) -> None:
    with pytest.raises(AssertionError, match=r"CuPy's f\("):
        facts.hold_to(text, "f", args, names)

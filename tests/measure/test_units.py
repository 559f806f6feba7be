"""Sizes, times and rates are written for people, and sizes are read from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtool.measure.units import about, parse_size, rate_text, size_text, time_text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096), ("4KiB", 4096), ("4 kB", 4000), ("1MiB", 1 << 20), ("1.5MiB", 3 << 19),
        ("64m", None), ("2G", None), ("400kB", 400_000), ("0", None), ("-1", None), ("", None),
        ("4Kib", 4096),
    ],
)  # fmt: skip
def test_sizes_are_read(text: str, size: int | None) -> None:
    if size is None:
        with pytest.raises(ValueError, match=r"is not a size such as|less than one byte"):
            parse_size(text)
    else:
        assert parse_size(text) == size


@given(st.integers(1, 1 << 50))
def test_what_is_written_is_read_again(size: int) -> None:
    assert parse_size(size_text(size)) == size


@pytest.mark.parametrize(
    ("size", "text"),
    [(64 << 20, "64 MiB"), (400_000_000, "400 MB"), (65537, "65537 B"), (4000, "4 kB")],
)
def test_sizes_are_written(size: int, text: str) -> None:
    assert size_text(size) == text


def test_times_and_rates() -> None:
    assert [time_text(t) for t in (3e-9, 1.2346e-6, 0.012, 2.5, 123.4)] == [
        "3 ns", "1.235 us", "12.00 ms", "2.500 s", "123.4 s",
    ]  # fmt: skip
    assert [rate_text(r) for r in (0.01234, 1.5, 55.43, 3350.0)] == ["0.01", "1.50", "55.4", "3350"]
    assert about(1_300_000) == "1.3 MB"

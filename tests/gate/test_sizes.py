"""Amounts of memory are read as people write them, and slips are refused."""

from __future__ import annotations

import pytest

from gradtool.config.resources import parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512MiB", 2**29),
        ("4G", 2**32),
        ("1.5 gib", 3 * 2**29),
        ("1048576", 2**20),
        ("1048575TiB", (2**20 - 1) * 2**40),
        ("none", None),
    ],
)
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("much", "must be a size such as 512MiB or 4GiB, or none, got 'much'"),
        ("4", "must be 1MiB or more, got '4': is the unit missing?"),
        ("1048576TiB", "must be below 1048576TiB, or none, got '1048576TiB'"),
        ("9" * 400 + "GiB", "must be below 1048576TiB, or none, got '999"),
    ],
)
def test_slips(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="must be") as refused:
        parse_size(text)
    assert str(refused.value).startswith(message)

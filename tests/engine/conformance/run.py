"""Compares an entry at its samples."""

from __future__ import annotations

import traceback
from typing import Any

from tests.engine.conformance import database
from tests.engine.conformance.compare import differences


def check(entry: Any, at_most: int | None = None) -> dict[str, list[str]]:
    """Differences by dtype, each preceded by the number of its sample.

    `at_most` samples of a dtype, spread over all of them, or every one where it is None.
    """
    return {
        str(dtype).removeprefix("torch."): differences_at(
            entry, list(database.samples(entry, dtype)), at_most
        )
        for dtype in database.dtypes_of(entry)
    }


def differences_at(entry: Any, samples: list[Any], at_most: int | None) -> list[str]:
    step = 1 if at_most is None else max(1, -(-len(samples) // at_most))
    found = []
    for number in range(0, len(samples), step):
        try:
            found += [f"{number}: {each}" for each in differences(entry, samples[number])]
        except Exception:
            found.append(f"{number}: harness: {traceback.format_exc(limit=-2)}")
    return found

"""The few recorded cases that are worth their time, the quickest first.

A check takes time for every entry, and a Function has one time limit for all of its cases. So of
calls that differ in extents alone, one that is small is as good as any. Other options, dtypes or
numbers of dimensions may reach other lines.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from gradtool.config.schema import CaseConfig
from gradtool.config.tensor_spec import is_tensor, numbers

_SMALL = 100
"""Entries of a case whose check takes a few seconds at most."""

_LARGE = 400
"""Entries beyond which the check of a case may exceed the time limit."""


def most_telling(cases: Sequence[CaseConfig], limit: int) -> list[CaseConfig]:
    """At most `limit` of the cases: of each kind the first that is small, then the rest.

    Of cases that are all large, the smallest alone.
    """
    ranked = sorted(cases, key=_rank)
    ranked = [case for case in ranked if _size(case) <= _LARGE] or ranked[:1]
    kinds: dict[str, CaseConfig] = {}
    for case in ranked:
        kinds.setdefault(_kind(case), case)
    first = [id(case) for case in kinds.values()]
    chosen = sorted(ranked, key=lambda case: id(case) not in first)[:limit]
    return sorted(chosen, key=_rank)


def _rank(case: CaseConfig) -> tuple[int, int]:
    """Small cases in their order, then larger ones by size, then those without an entry."""
    size = _size(case)
    if 0 < size <= _SMALL:
        return 0, 0
    return (1, size) if size else (2, 0)


def _size(case: CaseConfig) -> int:
    return sum(map(_entries, (*case.args, *case.kwargs.values())))


def _entries(value: Any) -> int:
    if _is_literal(value):
        return 0
    if is_tensor(value):
        return len(numbers(value["values"])) if "values" in value else math.prod(value["shape"])
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(_entries, value)) if isinstance(value, list) else 0


def _kind(case: CaseConfig) -> str:
    """The likeness of a case, but for extents, entries and other numbers with fractions."""
    return json.dumps([_likeness(list(case.args)), _likeness(case.kwargs)], sort_keys=True)


def _is_literal(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"literal"}


def _likeness(value: Any) -> Any:
    if _is_literal(value):
        return value
    if is_tensor(value):
        spec = {key: value.get(key) for key in ("dtype", "requires_grad")}
        return {**spec, "dimensions": _dimensions(value)}
    if isinstance(value, dict):
        return {name: _likeness(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_likeness(each) for each in value]
    return "float" if isinstance(value, float) else value


def _dimensions(spec: dict[str, Any]) -> int:
    if "shape" in spec:
        return len(spec["shape"])
    values, count = spec["values"], 0
    while isinstance(values, list):
        values, count = next(iter(values), None), count + 1
    return count

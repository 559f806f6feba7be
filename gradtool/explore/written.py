"""A point as a case of ``gradtool.yaml``."""

from __future__ import annotations

from typing import Any

from gradtool.cases.written import is_serializable, one_line_snippet
from gradtool.collect.checkable import Checkable
from gradtool.config.schema import CaseConfig
from gradtool.explore.point import Point
from gradtool.verify.protocol.coordinates import is_continuous

_MOST_WRITTEN = 64
"""Entries of a tensor that are written out; a larger one is drawn anew from its shape."""


def written(checkable: Checkable, point: Point) -> str | None:
    """The entry of the configuration; None where an argument cannot be written in a file."""
    values = [_value(point, at) for at in range(len(point.values))]
    args, named = values[: point.positional], values[point.positional :]
    names = point.names[point.positional :]
    case = CaseConfig(args=tuple(args), kwargs=dict(zip(names, named, strict=True)))
    if not is_serializable(case):
        return None
    return one_line_snippet(checkable.name, case)


def _value(point: Point, at: int) -> Any:
    value = point.values[at]
    if at not in point.tensors:
        return value
    spec: dict[str, Any] = {"dtype": value.dtype.name}
    if value.size <= _MOST_WRITTEN and value.dtype.kind != "c":
        spec["values"] = value.tolist()
    else:
        spec["shape"] = list(value.shape)
        if value.dtype.kind in "iu" and value.size:
            spec |= {"low": int(value.min()), "high": int(value.max()) + 1}
    if is_continuous(value.dtype) and at not in point.tracked:
        spec["requires_grad"] = False
    return spec

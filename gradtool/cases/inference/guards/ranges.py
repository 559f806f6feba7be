"""Ranges of values that conditions state: ``(x > 0).all()``, ``x.abs().max() <= 1``, ``y == 0``."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from gradtool.adapters.library import library
from gradtool.cases.inference.drafts import shape_of
from gradtool.cases.inference.evaluation import MISSING
from gradtool.cases.inference.guards.conditions import Condition, is_library
from gradtool.cases.inference.guards.known import Known
from gradtool.config.tensor_spec import is_tensor

_MARGIN = 0.1
"""Share of a range that values keep from either end, where a Function may have a pole."""

_OFF, _WIDTH = 0.5, 1.0
"""Distance from the only end of a range, and its width, for an end of at most 1."""

_DIGITS = 6

_SAME_VALUES = {"contiguous", "clone", "detach", "double", "float", "flatten", "item", "ravel",
                "reshape", "tolist", "view"}  # fmt: skip
_EXTREMES = {"amax", "amin", "max", "min"}
_CASTS = {"float", "int", "max", "min"}

_MOST_VALUES = 8
"""Different values beyond which a tensor is no list of those that are accepted."""


class Range(msgspec.Struct):
    """The values that conditions accept."""

    low: float = -math.inf
    high: float = math.inf
    values: list[float] = msgspec.field(default_factory=list)
    """The only ones, if there are any."""

    @property
    def is_open(self) -> bool:
        """True if it has room for more than one number."""
        return self.low < self.high and (math.isfinite(self.low) or math.isfinite(self.high))

    def inside(self) -> tuple[float, float]:
        """Ends of a smaller range, away from those that conditions state."""
        if math.isfinite(self.low) and math.isfinite(self.high):
            margin = _MARGIN * (self.high - self.low)
            return _rounded(self.low + margin), _rounded(self.high - margin)
        end = self.low if math.isfinite(self.low) else self.high
        size = max(1.0, abs(end)) * (1 if math.isfinite(self.low) else -1)
        ends = sorted((end + _OFF * size, end + (_OFF + _WIDTH) * size))
        return _rounded(ends[0]), _rounded(ends[1])


def _rounded(number: float) -> float:
    return round(number, _DIGITS)


class _Subject(msgspec.Struct, frozen=True):
    """An argument on one side of a comparison."""

    name: str
    is_absolute: bool = False
    is_whole: bool = True
    """False for one of its entries."""


def ranges_of(conditions: Iterable[Condition], known: Known) -> dict[str, Range]:
    """The ranges that conditions state, by argument."""
    found: dict[str, Range] = {}
    for condition in conditions:
        for each in (condition, condition.mirrored()):
            if each is not None and each.right is not None:
                subject = _subject(each.left, known)
                if subject and subject.name not in known.arguments_in(each.right):
                    _narrow(found.setdefault(subject.name, Range()), each, subject, known)
    return {name: each for name, each in found.items() if each.values or each.is_open}


def _subject(node: ast.expr, known: Known) -> _Subject | None:
    match node:
        case ast.Name(id=name):
            argument = known.argument(name)
            return None if argument is None else _Subject(argument)
        case ast.Subscript(slice=ast.Constant() | ast.UnaryOp()):
            return None  # What has to hold for the first entry may not have to for others.
        case ast.Subscript(value=inner) | ast.Attribute(value=inner, attr="values" | "data"):
            found = _subject(inner, known)
            return found and _Subject(found.name, found.is_absolute, is_whole=False)
        case ast.Call(func=ast.Name(id=name), args=[inner, *_]):
            return _through(name, inner, known) if name in {*_CASTS, "abs"} else None
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args):
            inner = args[0] if is_library(owner) and args else owner
            return _through(name, inner, known)
    return None


def _through(name: str, inner: ast.expr, known: Known) -> _Subject | None:
    """The subject of what a function of the same values returns."""
    found = _subject(inner, known) if name in {*_SAME_VALUES, *_EXTREMES, *_CASTS, "abs"} else None
    if found is None:
        return None
    is_whole = found.is_whole and name not in _EXTREMES
    return _Subject(found.name, found.is_absolute or name == "abs", is_whole)


def _narrow(found: Range, condition: Condition, subject: _Subject, known: Known) -> None:
    assert condition.right is not None
    numbers = _numbers(known.value(condition.right))
    if not numbers:
        return
    signs = (-1, 1) if subject.is_absolute else (1,)
    match condition.operator:
        case ast.Lt | ast.LtE:
            found.high = min(found.high, *numbers)
            if subject.is_absolute:
                found.low = max(found.low, -found.high)
        case ast.Gt | ast.GtE:
            found.low = max(found.low, *numbers)
        case ast.Eq | ast.In if subject.is_whole and len(set(numbers)) <= _MOST_VALUES:
            found.values += [sign * each for each in numbers for sign in signs]


def _numbers(value: Any) -> list[float]:
    """The finite numbers that a value holds."""
    if value is MISSING:
        return []
    try:
        given = library().array(value.detach()) if isinstance(value, library().Tensor) else value
        array = np.asarray(list(given) if isinstance(given, set | range) else given)
    except (TypeError, ValueError):
        return []
    if array.dtype.kind not in "iuf" or not array.size:
        return []
    return [float(each) for each in array.ravel() if math.isfinite(each)]


# ---- values within a range ----------------------------------------------------------------------


def within_range(value: Any, stated: Range) -> Any:
    """The value of a draft with entries within a range; None for what has no numbers."""
    if is_tensor(value):
        return _tensor(value, stated)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if stated.values:
        return type(value)(stated.values[0])
    low, high = stated.inside()
    return _whole_number(stated) if isinstance(value, int) else _rounded((low + high) / 2)


def _tensor(spec: dict[str, Any], stated: Range) -> dict[str, Any] | None:
    dtype = str(spec.get("dtype", "float64"))
    rest = {key: each for key, each in spec.items() if key in {"dtype", "requires_grad"}}
    shape = shape_of(spec)
    if dtype.startswith("complex") or dtype == "bool":
        return None
    if stated.values:
        return {**rest, "values": cycled(stated.values, shape, dtype), "requires_grad": False}
    if dtype.startswith("float") and not _holds_integers(spec):
        low, high = stated.inside()
        return {**rest, "shape": shape, "low": low, "high": high}
    least = _whole_number(stated)
    high = stated.high if math.isfinite(stated.high) else least + 3
    return {"dtype": "int64", **rest, "shape": shape, "low": least, "high": max(least, int(high))}


def _holds_integers(spec: dict[str, Any]) -> bool:
    return "values" in spec and np.asarray(spec["values"]).dtype.kind != "f"


def _whole_number(stated: Range) -> int:
    """The least whole number above the lower end, or the largest one below the upper one."""
    return math.floor(stated.low) + 1 if math.isfinite(stated.low) else math.ceil(stated.high) - 1


def cycled(values: Iterable[float], shape: list[int], dtype: str) -> Any:
    """Entries of a tensor that repeat some values, a different number of times in each row."""
    distinct = list(dict.fromkeys(values))
    count = math.prod(shape)
    # Each value once, and then the first one twice in a round, so that rows differ.
    cycle = itertools.islice(itertools.cycle([*distinct, distinct[0]]), count)
    kind = float if dtype.startswith("float") else int
    entries: Any = np.array([kind(each) for each in cycle]).reshape(shape).tolist()
    return entries

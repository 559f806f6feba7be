"""A tensor as the configuration describes it.

``{shape: [20, 20]}`` is float64 and standard normal; ``low`` and ``high`` make it uniform;
``values`` lists every entry. All is checked without NumPy, which would double the time to
read a configuration.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

_MOST_DIMENSIONS = 64
"""The limit of NumPy."""

_OVERFLOWS = {
    "float16": 2.0**16 - 2.0**4,
    "float32": 2.0**128 - 2.0**103,
    "float64": math.inf,
    "complex64": 2.0**128 - 2.0**103,
    "complex128": math.inf,
}
"""The least number that a floating dtype rounds to infinity: half a step beyond its largest."""


class ValuesError(ValueError):
    """Nested lists are not an array of numbers."""


def numbers(values: Any) -> list[float]:
    """List the entries of nested lists, in order; a number alone is one entry.

    Raises:
        ValuesError: Rows differ in length, or an entry is not a number that an array can hold.
    """
    entries = _entries(values)
    if not all(isinstance(entry, int | float) for entry in entries):
        raise ValuesError("'values' must contain only numbers")
    if not all(isinstance(entry, float) or fits(entry, "int64") for entry in entries):
        raise ValuesError("'values' contain a whole number beyond int64")
    return entries


def _entries(values: Any) -> list[Any]:
    level = [values]
    for _ in range(_MOST_DIMENSIONS + 1):
        lengths = {len(each) if isinstance(each, list) else None for each in level}
        if lengths <= {None}:
            return level
        if len(lengths) > 1:
            raise ValuesError("'values' must be a list of rows of equal length")
        level = [inner for each in level for inner in each]
    raise ValuesError(f"'values' have more than {_MOST_DIMENSIONS} dimensions")


def kind(entries: Iterable[float]) -> str:
    """NumPy's letter for the narrowest kind that holds all entries: ``b``, ``i`` or ``f``."""
    kinds = {type(entry) for entry in entries}
    if not kinds or float in kinds:
        return "f"
    return "b" if kinds == {bool} else "i"


def fits(entry: float, dtype: str) -> bool:
    """Return True if `dtype` can hold the number: a floating one rounded, any other exactly."""
    if dtype in _OVERFLOWS:
        return not _OVERFLOWS[dtype] <= abs(entry) < math.inf
    least, most = bounds(dtype)
    return least <= entry <= most and entry == math.floor(entry)


def bounds(dtype: str) -> tuple[int, int]:
    """The least and the greatest number of an integer or boolean dtype."""
    if dtype == "bool":
        return 0, 1
    bits = int(dtype.lstrip("uint"))
    return (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


DType = Literal[
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
]


class TensorSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Keys of a mapping with ``shape`` or ``values``."""

    shape: tuple[Annotated[int, msgspec.Meta(ge=0)], ...] | None = None
    """Extents, each 0 or more; `[]` is a 0-d tensor. Entries are drawn at random."""
    values: Any = None
    """All entries, as nested lists, instead of `shape`."""
    dtype: DType | None = None
    """Dtype of the entries; by default, int64 or bool if all `values` are integers or booleans, and
    `check.dtype` otherwise."""
    low: float | None = None
    """Lower bound of uniform entries; without `low` and `high`, entries are standard normal."""
    high: float | None = None
    """Exclusive upper bound of uniform entries; if equal to `low`, all entries have that value."""
    requires_grad: bool | None = None
    """Whether to check the gradient with respect to this tensor; by default, true if its dtype
    supports gradients."""


MAIN_KEYS = ("shape", "values", "literal")
"""Keys one of which a mapping has unless forward is to get the mapping itself."""


def is_tensor(value: object) -> bool:
    """Return True if a configuration's value describes a tensor."""
    return isinstance(value, dict) and ("shape" in value or "values" in value)


def problem_with(spec: TensorSpec) -> str | None:
    """Explain why `spec` is impossible; None if it is possible."""
    if spec.shape is not None and spec.values is not None:
        return "has both 'shape' and 'values': remove one"
    if spec.values is not None:
        return _problem_with_values(spec)
    if spec.shape is None:
        return "needs 'shape' or 'values'"
    return _problem_with_gradient(spec, spec.dtype or "float64") or _problem_with_bounds(spec)


def _problem_with_values(spec: TensorSpec) -> str | None:
    if spec.low is not None or spec.high is not None:
        return "has 'values', so 'low' and 'high' have no effect: remove them"
    try:
        entries = numbers(spec.values)
    except ValuesError as error:
        return str(error)
    dtype = spec.dtype or dtype_of(kind(entries))
    if not all(fits(entry, dtype) for entry in entries):
        return f"'values' do not fit {dtype}"
    return _problem_with_gradient(spec, dtype)


def _problem_with_gradient(spec: TensorSpec, dtype: str) -> str | None:
    if spec.requires_grad and not _can_have_gradient(dtype):
        return f"'requires_grad' needs a floating-point dtype, not {dtype}"
    return None


def _problem_with_bounds(spec: TensorSpec) -> str | None:
    low, high, dtype = spec.low, spec.high, spec.dtype or "float64"
    if low is None and high is None:
        return None
    if low is None or high is None:
        return "needs both 'low' and 'high', or neither"
    if low > high:
        return f"'low' ({low:g}) is above 'high' ({high:g})"
    if dtype == "bool":
        return "is bool, which takes neither 'low' nor 'high'"
    if not _can_have_gradient(dtype):
        return _problem_with_integers(low, high, dtype)
    if not (fits(low, dtype) and fits(high, dtype)):
        return f"'low' and 'high' must lie within {dtype}"
    return "'low' and 'high' are too far apart" if math.isinf(high - low) else None


def _problem_with_integers(low: float, high: float, dtype: str) -> str | None:
    if low != math.floor(low) or high != math.floor(high):
        return f"is {dtype}, so 'low' and 'high' must be whole numbers"
    least, most = bounds(dtype)
    if low < least or high > most:
        return f"'low' and 'high' must lie within {dtype}"
    return None


def _can_have_gradient(dtype: str) -> bool:
    return dtype.startswith(("float", "complex"))


def dtype_of(kind: str) -> str:
    """The dtype of values of NumPy's `kind`: as in torch.tensor, but float64 for floats."""
    return {"b": "bool", "i": "int64"}.get(kind, "float64")

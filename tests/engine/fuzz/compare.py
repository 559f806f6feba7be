"""What two libraries did in one statement, compared: the first difference, and its signature."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

TOLERANCE = {"float16": 2e-2, "float32": 2e-4, "complex64": 2e-4, "complex32": 2e-2}
TOLERANCE |= dict.fromkeys(("int64", "int32", "uint8", "int8", "int16", "bool"), 1e-6)
"""Of the largest magnitude in sight; a program computes a dozen steps, each rounded.

Functions of integers are computed in single precision.
"""
FINE = 1e-9
PLAIN = (str, bool, int, type(None))
"""Facts that are equal exactly or not at all."""


@dataclass(frozen=True)
class Difference:
    """Where a program differs, in what, and what it was on either side."""

    step: int
    what: str
    """The fact that differs: ``error``, ``events`` or a fact of a tensor."""
    where: str
    """The tensor or the statement."""
    expected: Any
    got: Any
    statement: str = ""
    maker: str = ""
    """The statement that gave the tensor its name."""
    derived: bool = False
    """The statement computes derivatives, or the one that made the tensor does."""
    dtype: str = ""
    """Of the tensor."""
    view: bool = False
    """It is a view."""
    overlapping: bool = False
    """Elements of tensors that the statement names share memory."""
    aliasing: bool = False
    """Two tensors that the statement names have the same memory."""
    single: bool = False
    """A tensor that the statement names has one element along a dimension."""
    sharing: bool = False
    """The tensor shares memory with another, or with a gradient, on one side only."""
    inexact: bool = False
    """What the statement reads agrees up to rounding only."""
    lineage: frozenset[str] = frozenset()
    """The kinds of statements that the tensor, or what the statement reads, descends from."""
    texts: tuple[str, str] = ("", "")
    """Of the errors that the statement raised on the two sides."""

    def signature(self) -> str:
        """A text that differences of one cause share, most often."""
        if self.what == "error":
            return f"error {self.expected} not {self.got}: {_plain(' | '.join(self.texts))}"
        if self.what.endswith(("value", "stride", "_version", "storage_offset")):
            return f"{self.what} of {self._maker()}"
        if self.what in ("requires_grad", "is_leaf", "_base"):
            return f"{self.what} {_plain(str(self.expected))} not {_plain(str(self.got))} " \
                f"of {self._maker()}"  # fmt: skip
        if self.what == "events":
            return f"events of {self._maker()}"
        return f"{self.what} {_plain(str(self.expected))} not {_plain(str(self.got))}"

    def _maker(self) -> str:
        return _plain(self.statement.partition("\n")[0])


def _plain(text: str) -> str:
    """A text without names and numbers."""
    text = re.sub(r"\b[tcfhmex]\d+\b", "_", text)
    text = re.sub(r"-?\d+(\.\d*)?(e-?\d+)?j?", "0", text)
    return re.sub(r"0(, 0)+", "0", re.sub(r"\[[\[\]0, -]*\]", "[]", text))[:160]


def different_facts(
    expected: dict[str, Any], got: dict[str, Any], tolerance: float = 0
) -> Iterator[tuple[str, Any, Any]]:
    """The facts of a tensor that differ, within at least this tolerance."""
    for name, wanted in expected.items():
        found = got.get(name)
        if type(wanted) is type(found) and isinstance(wanted, PLAIN) and wanted == found:
            continue
        own = TOLERANCE.get(str(expected.get(_dtype_of(name), "")), FINE)
        if not same(wanted, found, max(own, tolerance)):
            yield name, wanted, found
    yield from ((name, None, got[name]) for name in got if name not in expected)


def _dtype_of(name: str) -> str:
    return name.rpartition(".")[0] + ".dtype" if "." in name else "dtype"


def same(expected: Any, got: Any, tolerance: float = FINE) -> bool:
    """Equality, within a tolerance for arrays, and through containers."""
    if isinstance(expected, np.ndarray) or isinstance(got, np.ndarray):
        return isinstance(expected, type(got)) and close(expected, got, tolerance)
    if isinstance(expected, dict) and isinstance(got, dict):
        if "value" not in expected:  # a tensor of a transform, of which not all can be looked at
            got = {name: each for name, each in got.items() if name in expected}
        return next(different_facts(expected, got, tolerance), None) is None
    if isinstance(expected, tuple) and isinstance(got, tuple):
        return len(expected) == len(got) and all(
            same(one, other, tolerance) for one, other in zip(expected, got, strict=True)
        )
    if isinstance(expected, float | complex) and isinstance(got, float | complex):
        return close(np.asarray(expected), np.asarray(got), max(tolerance, 2e-4))
    return bool(expected == got)


def close(expected: np.ndarray, got: np.ndarray, tolerance: float) -> bool:
    """Whether two arrays agree up to rounding."""
    if expected.shape != got.shape:
        return False
    if expected.dtype == got.dtype and expected.tobytes() == got.tobytes():
        return True
    if np.array_equal(expected, got):
        return True
    if expected.dtype.kind not in "fc":
        return False
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = expected.astype(wide), got.astype(wide)
    if wide is np.complex128:  # a number of which one part is NaN is NaN
        one, other = (np.where(np.isnan(each), np.nan, each) for each in (one, other))
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(other)):
        return False
    scale = 1 + np.abs(one[finite]).max(initial=0)
    near = np.abs(one[finite] - other[finite]) <= tolerance * scale
    return bool(near.all()) and np.array_equal(
        np.nan_to_num(one[~finite], nan=0.0), np.nan_to_num(other[~finite], nan=0.0)
    )

"""Text of a tensor: the numbers in columns, then the properties that differ from the default.

Widths, line breaks and the choice between fixed and scientific notation are torch's, as its
documentation of `torch.set_printoptions` describes them with the default options.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.engine import _dtypes
from gradtool.engine._levels import BatchLevel
from gradtool.engine._modes import overrides, overriding
from gradtool.engine._tensor import Tensor, to_numpy

PRECISION = 4
"""Digits after the point."""
THRESHOLD = 1000
"""With more elements than this, only the edges are shown."""
EDGE_ITEMS = 3
"""Elements shown at each edge."""
LINE_WIDTH = 80
SCIENTIFIC: bool | None = None
"""True for scientific notation; None to decide by the numbers."""

HEAD = "tensor("

Text = Callable[[Any], str]


def text_of(x: Tensor) -> str:
    """Return the text of a tensor."""
    level = x._level
    if level is None:
        return _plain(x)
    held: Tensor = x.__dict__["_value"]
    if not level.by_func:
        tangent: Tensor | None = x.__dict__.get("_tangent") if level.alive else None
        if tangent is None:
            return text_of(held)
        shown = f"{tangent.item()}" if tangent.ndim == 0 else text_of(tangent)
        return _plain(held, [f"tangent={shown}"]) if held._level is None else text_of(held)
    dim = None
    if isinstance(level, BatchLevel):
        held, dim = level.physical(x)
    inner = "\n".join("    " + line for line in text_of(held).split("\n"))
    if dim is not None:
        return f"BatchedTensor(lvl={level.number}, bdim={dim}, value=\n{inner}\n)"
    number = level.number if level.alive else -2
    return f"GradTrackingTensor(lvl={number}, value=\n{inner}\n)"


Tensor.__repr__ = text_of  # type: ignore[assignment,method-assign]  # methods are attached


def _plain(x: Tensor, more: Sequence[str] = ()) -> str:
    array = to_numpy(x._array)
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    head = f"{type(x).__name__}(" if isinstance(x, tuple(overriding)) else HEAD
    body = "[]" if array.size == 0 else _body(array, len(head))
    with overrides(False):
        suffixes = [*_suffixes(x), *more]
    return _with_suffixes(head + body, suffixes, len(head))


def _suffixes(x: Tensor) -> list[str]:
    """Return the properties to show after the numbers."""
    found = []
    if x.is_cuda:
        found.append(f"device='{x.device}'")
    if x.numel() == 0 and x.ndim != 1:
        found.append(f"size={tuple(x.shape)}")
    if x.dtype not in _unsaid() or (x.numel() == 0 and x.dtype is not _dtypes.get_default_dtype()):
        found.append(f"dtype={x.dtype}")
    try:
        node = x.grad_fn
        name = None if node is None else node._name()
    except RuntimeError:
        name = "Invalid"  # a view whose base was changed where autograd cannot follow
    if name is not None:
        found.append(f"grad_fn=<{name}>")
    elif x.requires_grad:
        found.append("requires_grad=True")
    return found


def _unsaid() -> tuple[_dtypes.dtype, ...]:
    """The dtypes that numbers of each kind have unless said otherwise."""
    default = _dtypes.get_default_dtype()
    return (default, default.to_complex(), _dtypes.int64, _dtypes.bool_)


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """`text` and the suffixes, on a new line where the last has no room for the next."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > LINE_WIDTH:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


def _body(array: Any, indent: int) -> str:
    """The numbers in nested brackets."""
    summarize = array.size > THRESHOLD
    shown = _edges(array) if summarize else array
    text, width = _column(shown)
    if array.ndim == 0:
        return text(array.item())
    return _rows(array, indent, summarize, text, width)


def _edges(array: Any) -> Any:
    """The part of an array that its summary shows."""
    for axis, extent in enumerate(array.shape):
        if extent > 2 * EDGE_ITEMS:
            kept = [*range(EDGE_ITEMS), *range(extent - EDGE_ITEMS, extent)]
            array = array.take(kept, axis=axis)
    return array


def _rows(array: Any, indent: int, summarize: bool, text: Text, width: int) -> str:
    """One level of brackets."""
    if array.ndim == 1:
        return _line(array, indent, summarize, text, width)
    rows: list[str] = [
        _rows(each, indent + 1, summarize, text, width)
        for each in (array if not summarize else _ends(array))
    ]
    if summarize and len(array) > 2 * EDGE_ITEMS:
        rows.insert(EDGE_ITEMS, "...")
    separator = "," + "\n" * int(array.ndim - 1) + " " * (indent + 1)
    return "[" + separator.join(rows) + "]"


def _ends(array: Any) -> Sequence[Any]:
    if len(array) <= 2 * EDGE_ITEMS:
        return list(array)
    return [*array[:EDGE_ITEMS], *array[-EDGE_ITEMS:]]


def _line(array: Any, indent: int, summarize: bool, text: Text, width: int) -> str:
    """The innermost brackets, on as many lines as needed."""
    numbers = [text(number) for number in (_ends(array) if summarize else array)]
    if summarize and len(array) > 2 * EDGE_ITEMS:
        numbers.insert(EDGE_ITEMS, " ...")
    per_line = max(1, (LINE_WIDTH - indent) // (width + 2))
    lines = [
        ", ".join(numbers[start : start + per_line]) for start in range(0, len(numbers), per_line)
    ]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _column(shown: Any) -> tuple[Text, int]:
    """Return a function that writes a number, padded, and its width."""
    if shown.dtype.kind == "c":
        real, imag = _float_text(shown.real), _float_text(shown.imag)
        widths = [_width(part, each) for part, each in ((shown.real, real), (shown.imag, imag))]
        return _complex_text(real, imag, widths[0]), sum(widths) + 1
    text = _float_text(shown) if shown.dtype.kind == "f" else str
    width = _width(shown, text)
    return lambda number: text(number).rjust(width), width


def _complex_text(real: Text, imag: Text, width: int) -> Text:
    def text(number: Any) -> str:
        second = imag(number.imag)
        sign = "" if second.startswith("-") else "+"
        return f"{real(number.real).rjust(width)}{sign}{second}j"

    return text


def _width(numbers: Any, text: Text) -> int:
    """The widest text. Of floats, zeros, infinities and NaNs do not widen a column."""
    if numbers.dtype.kind == "f":
        numbers = numbers[np.isfinite(numbers) & (numbers != 0)]
    return max((len(text(number)) for number in numbers.reshape(-1)), default=1)


def _float_text(numbers: Any) -> Text:
    """Whole, fixed or scientific notation, as the finite non-zero numbers suggest."""
    magnitudes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)].astype(np.float64))
    least, most = magnitudes.min(initial=math.inf), magnitudes.max(initial=0)
    whole = bool((magnitudes == np.ceil(magnitudes)).all())
    spread = bool(most > 1e8 or most > 1000 * least or (least < 1e-4 and not whole))
    if magnitudes.size and (spread if SCIENTIFIC is None else SCIENTIFIC):
        return lambda number: f"{float(number):.{PRECISION}e}"
    if not whole:
        return lambda number: f"{float(number):.{PRECISION}f}"
    return lambda number: f"{float(number):.0f}" + ("." if math.isfinite(number) else "")

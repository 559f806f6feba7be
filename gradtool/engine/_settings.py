"""Settings of the process: those that printing follows, and those accepted for torch's sake.

Memory formats and layouts are names only: every tensor is strided, and lies in memory as the
operation that made it left it. Results are the same each time, and NumPy counts its threads.
"""

from __future__ import annotations

import os
from typing import Any

from gradtool.engine import _dtypes, _print


class memory_format:
    """An order of dimensions in memory; accepted where torch takes one."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


class layout:
    """A way to store elements."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csc = layout("sparse_csc")
sparse_csr = layout("sparse_csr")


class _Switches:
    """Settings without effect, to be read back.

    Held by an object: the seal lets checked code change those of an object, but not of a class.
    """

    threads = os.cpu_count() or 1
    deterministic = False
    warn_only = False
    matmul_precision = "highest"


_switches = _Switches()


def set_num_threads(threads: int) -> None:
    """Accepted; NumPy and its libraries count their own threads.

    Raises:
        RuntimeError: the number is not positive.
    """
    if threads <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _switches.threads = threads


def get_num_threads() -> int:
    """Return the value of `set_num_threads`, or the number of processors."""
    return _switches.threads


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted; there are no others."""
    _switches.deterministic, _switches.warn_only = bool(mode), warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Return the value of `use_deterministic_algorithms`."""
    return _switches.deterministic


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted; products of float32 are as precise as they come.

    Raises:
        RuntimeError: there is no such precision.
    """
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high' or 'medium'")
    _switches.matmul_precision = precision


def get_float32_matmul_precision() -> str:
    """Return the value of `set_float32_matmul_precision`."""
    return _switches.matmul_precision


def can_cast(from_: _dtypes.dtype, to: _dtypes.dtype) -> bool:
    """Return True if torch writes elements of one dtype over those of another."""
    return from_.category <= to.category


_PROFILES = {
    "default": (4, 1000, 3, 80),
    "short": (2, 1000, 2, 80),
    "full": (4, float("inf"), 3, 80),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set the text of tensors: digits, number of elements in all and at each edge, columns.

    Without `sci_mode` the numbers decide between fixed and scientific notation.
    """
    if profile is not None:
        for name, value in zip(_NAMES, _PROFILES[profile]):
            setattr(_print, name, value)
    given: tuple[Any, ...] = (precision, threshold, edgeitems, linewidth)
    for name, value in zip(_NAMES, given):
        if value is not None:
            setattr(_print, name, value)
    _print.SCIENTIFIC = sci_mode


_NAMES = ("PRECISION", "THRESHOLD", "EDGE_ITEMS", "LINE_WIDTH")

SETTINGS: dict[str, Any] = {
    function.__name__: function
    for function in (
        are_deterministic_algorithms_enabled, can_cast, get_float32_matmul_precision,
        get_num_threads, layout, memory_format, set_float32_matmul_precision, set_num_threads,
        set_printoptions, use_deterministic_algorithms,
    )
} | {
    "channels_last": channels_last,
    "channels_last_3d": channels_last_3d,
    "contiguous_format": contiguous_format,
    "preserve_format": preserve_format,
    "sparse_coo": sparse_coo,
    "sparse_csc": sparse_csc,
    "sparse_csr": sparse_csr,
    "strided": strided,
}  # fmt: skip
"""All of it, under torch's names."""

"""Human-readable sizes, times and rates.

A ``MiB`` is 1024² bytes, a ``MB`` 1000²; rates are in GB/s of 10⁹ bytes.
"""

from __future__ import annotations

import math
import re

_FACTORS = {
    "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?b?)", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Parse ``64MiB``, ``4 kB`` or ``4096`` to bytes.

    Raises:
        ValueError: the text is not a size, or the size is less than one byte.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or match[2].lower() not in _FACTORS:
        raise ValueError(f"{text!r} is not a size such as 4096, 64KiB, 1MiB or 400kB")
    size = int(float(match[1]) * _FACTORS[match[2].lower()])
    if size < 1:
        raise ValueError(f"{text!r} is less than one byte")
    return size


def size_text(size: int) -> str:
    """Format bytes in the unit with the fewest digits: ``64 MiB``, ``400 kB``, ``65537 B``."""
    exact = [f"{size} B"]
    for step, units in ((1024, ("KiB", "MiB", "GiB", "TiB")), (1000, ("kB", "MB", "GB", "TB"))):
        for power, unit in enumerate(units, 1):
            if size >= step**power and size % step**power == 0:
                exact.append(f"{size // step**power} {unit}")
    return min(exact, key=lambda text: len(text.split()[0]))


def about(size: float) -> str:
    """Format a size roughly: ``1.3 MB``."""
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if size >= 1000**power:
            return f"{size / 1000**power:.3g} {unit}"
    return f"{size:.3g} B"


def time_text(seconds: float) -> str:
    """Format seconds to four digits in a suitable unit: ``12.34 us``."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= factor:
            return f"{_digits(seconds / factor)} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def rate_text(gbps: float) -> str:
    """Format a rate in GB/s to three digits."""
    return _digits(gbps, 3)


def _digits(value: float, digits: int = 4) -> str:
    """Format a positive number to so many digits, without an exponent."""
    whole = math.floor(math.log10(value)) + 1 if value > 0 else 1
    return f"{value:.{max(0, digits - max(whole, 1))}f}"

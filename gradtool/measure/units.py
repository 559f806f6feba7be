"""Sizes, times and rates as people write and read them.

``MiB`` counts in 1024, ``MB`` in 1000; rates are in GB/s of 10^9 bytes.
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
    """Bytes of ``64MiB``, ``4 kB`` or ``4096``.

    Raises:
        ValueError: it is no size, or less than one byte.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or match[2].lower() not in _FACTORS:
        raise ValueError(f"{text!r} is not a size; write 4096, 64KiB, 1MiB or 400kB")
    size = int(float(match[1]) * _FACTORS[match[2].lower()])
    if size < 1:
        raise ValueError(f"{text!r} is less than one byte")
    return size


def size_text(size: int) -> str:
    """Bytes in the unit that needs the fewest digits: ``64 MiB``, ``400 kB``, ``65537 B``."""
    exact = [f"{size} B"]
    for step, units in ((1024, ("KiB", "MiB", "GiB", "TiB")), (1000, ("kB", "MB", "GB", "TB"))):
        for power, unit in enumerate(units, 1):
            if size >= step**power and size % step**power == 0:
                exact.append(f"{size // step**power} {unit}")
    return min(exact, key=lambda text: len(text.split()[0]))


def about(size: float) -> str:
    """A size of which only the order matters: ``1.3 MB``."""
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if size >= 1000**power:
            return f"{size / 1000**power:.3g} {unit}"
    return f"{size:.3g} B"


def time_text(seconds: float) -> str:
    """Seconds to four digits in the unit that suits them: ``12.34 us``."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= factor:
            return f"{_digits(seconds / factor)} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def rate_text(gbps: float) -> str:
    """GB/s to three digits."""
    return _digits(gbps, 3)


def _digits(value: float, digits: int = 4) -> str:
    """A positive number to so many digits, never in powers of ten."""
    whole = math.floor(math.log10(value)) + 1 if value > 0 else 1
    return f"{value:.{max(0, digits - max(whole, 1))}f}"

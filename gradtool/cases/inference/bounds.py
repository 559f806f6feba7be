"""Names of lower and upper bounds, between which other values lie."""

from __future__ import annotations

import re

_END = r"(_?(val|value|bound|limit))?s?"
_LOWER = re.compile(r"(?P<of>.*_)?(min|minimum|low|lower|lo|floor)" + _END)
_UPPER = re.compile(r"(?P<of>.*_)?(max|maximum|high|upper|hi|ceil)" + _END)

_SIDES = ((_LOWER, (-1.0, -0.25)), (_UPPER, (0.25, 1.0)))


def side(name: str) -> tuple[float, float] | None:
    """Return a range for a bound, on its side of most standard normal values; None for others."""
    return next((within for names, within in _SIDES if names.fullmatch(name)), None)


def are_bounds(lower: str, upper: str) -> bool:
    """Return True for a lower and an upper bound of the same: ``x_min`` and ``x_max``."""
    low, high = _LOWER.fullmatch(lower), _UPPER.fullmatch(upper)
    return bool(low and high and low["of"] == high["of"])

"""How one time compares with another, as `gradtool.measure.bootstrap` finds out."""

from __future__ import annotations

import msgspec


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """How many times as long one thing takes as another, with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """``faster``, ``slower``, or ``no difference`` where the interval contains 1."""
        if self.high < 1:
            return "faster"
        return "slower" if self.low > 1 else "no difference"

"""Results of the doctor's probes, as plain data."""

from __future__ import annotations

from typing import Literal

import msgspec

State = Literal["works", "missing", "broken", "note"]
"""``missing`` can be installed; ``broken`` is installed and fails; ``note`` is information."""


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of one probe."""

    name: str
    state: State
    found: str
    """The version or figures found, or the reason why it does not work, on one line."""
    advice: str = ""
    """The thing to install or change; empty if nothing needs to be done."""
    required: bool = False
    """True if gradtool cannot work without it."""

    @property
    def stops(self) -> bool:
        """True if gradtool cannot work because of it."""
        return self.required and self.state in ("missing", "broken")


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    """Results of all probes."""

    schema: int = 1
    """Version of the JSON form."""
    gradtool: str
    answers: tuple[ProbeResult, ...]

    @property
    def healthy(self) -> bool:
        """True if everything that is required works."""
        return not any(answer.stops for answer in self.answers)


def first_line(error: BaseException) -> str:
    """Return an exception's type and the first line of its message."""
    text = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

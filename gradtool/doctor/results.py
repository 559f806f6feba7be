"""What the doctor says of one thing."""

from __future__ import annotations

from typing import Literal

import msgspec

State = Literal["works", "missing", "broken", "note"]
"""``missing`` is what can be added; ``broken`` is there and fails; ``note`` is only told."""


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    state: State
    found: str
    """What is there, or why it does not work, on one line."""
    advice: str = ""
    """What to install or change; empty where nothing needs to be done."""
    required: bool = False
    """Gradtool cannot work without it."""

    @property
    def stops(self) -> bool:
        """Whether gradtool cannot work."""
        return self.required and self.state in ("missing", "broken")


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that the doctor has to say."""

    schema: int = 1
    """Version of the JSON form."""
    gradtool: str
    answers: tuple[ProbeResult, ...]

    @property
    def healthy(self) -> bool:
        """Whether everything that is required works."""
        return not any(answer.stops for answer in self.answers)


def first_line(error: BaseException) -> str:
    """What an exception says, on one line."""
    text = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

"""`NotDerivable`: a forward of which no backward can be written."""

from __future__ import annotations


class NotDerivable(Exception):  # noqa: N818 - the state of a Function, not a fault of the program
    """Forward leaves what can be recorded, or nothing that was derived passes the check.

    Args:
        message: One line.
        line: The line of the file where that happens.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line

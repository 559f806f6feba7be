"""Why a Function has no case: the state that rule GT002 reports."""

from __future__ import annotations

from gradtool.results.report import Location


class NoCase(Exception):  # noqa: N818 - the state of a Function, not a fault of the program
    """No arguments could be made for a Function.

    Args:
        message: Why, in one line.
        hint: What to do about it.
        detail: More lines for ``-v``.
        location: The user's line that is to blame, where there is one.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        detail: str | None = None,
        location: Location | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.detail = detail
        self.location = location

"""The texts of a Function, and what is asked of them more than once."""

from __future__ import annotations

from functools import cached_property


class Texts:
    """The docstrings of a Function and its source."""

    def __init__(self, docstrings: str, code: str) -> None:
        self.docstrings = docstrings
        self._code = code

    @cached_property
    def _forward(self) -> str:
        """The source above backward."""
        return self._code.partition("def backward")[0]

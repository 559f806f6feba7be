"""Facts about rules that a report is read with, where the rules themselves may be unknown.

Every room takes these types from `gradtool.results.report`.
"""

from __future__ import annotations

import enum

from gradtool.results.evidence import Struct

DOUBLE_BACKWARD = "double backward"
"""The derivative that ``--require-double-backward`` asks for, as `CheckResult.proves` names it."""


class Severity(enum.Enum):
    """The effect of a broken rule on the gate."""

    ERROR = "error"
    """Fails the gate."""
    WARNING = "warning"
    """Fails the gate under ``--strict``."""
    NOTE = "note"
    """Never fails the gate."""


class Family(enum.Enum):
    """The group that the first three characters of a rule's code name."""

    RUNNING = "GT0"
    """Rules that report whether there was anything to check. No selection leaves them out."""
    GRADIENT = "GT1"
    DOUBLE_BACKWARD = "GT2"
    FORWARD_MODE = "GT3"
    BATCHING = "GT4"
    CONTRACT = "GT5"
    NUMERICS = "GT6"
    DEVICES = "GT7"

    def __contains__(self, code: str) -> bool:
        return code.startswith(self.value)


class RuleInfo(Struct, frozen=True, kw_only=True):
    """A description of a rule, so that a report can be read without the program."""

    code: str
    name: str
    severity: Severity
    summary: str
    page: str = ""
    """The text that ``gradtool explain`` prints."""

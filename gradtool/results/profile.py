"""The result model of ``gradtool profile``: what each Function costs, as plain data.

Times are seconds, sizes bytes. The JSON form is published as a
schema, which ``gradtool schema profile`` prints.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gradtool.measure.summary import Summary
from gradtool.results.report import CheckResult, Environment

SCHEMA_VERSION = 1
"""Version of the JSON form of `ProfileReport`. It grows when a field changes meaning or goes."""

PhaseName = Literal["forward", "backward", "double backward"]


class _Struct(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of the result types: frozen, with defaults omitted from JSON."""


class Operation(_Struct, frozen=True, kw_only=True):
    """All calls to one operation in one run."""

    name: str
    calls: int
    own: float
    """Seconds in it, without the operations inside of it."""
    total: float


class Phase(_Struct, frozen=True, kw_only=True):
    """One phase of running a Function: forward, backward or double backward."""

    name: PhaseName
    time: Summary | None = None
    """Of one run."""
    samples: tuple[float, ...] = ()
    batch: int = 0
    """Runs in one sample."""
    peak: int | None = None
    """Bytes that arrays took at most, beyond what was there before the run."""
    operations: tuple[Operation, ...] = ()
    """The operations of one run, the costliest first."""
    unavailable: str = ""
    """Why there is no number."""
    raised: bool = False
    """It raised, which is more than not being there."""


class CaseProfile(_Struct, frozen=True, kw_only=True):
    """A Function at one case."""

    name: str
    arguments: tuple[str, ...] = ()
    source: str = ""
    phases: tuple[Phase, ...] = ()
    problem: str = ""
    """Why it could not be run at all."""


class FunctionProfile(_Struct, frozen=True, kw_only=True):
    """A Function at its cases."""

    node: str
    """``path/mod.py::Function``; of a module that could not be loaded its path."""
    line: int | None = None
    cases: tuple[CaseProfile, ...] = ()
    problem: str = ""
    """Why it, or the rest of its cases, could not be profiled."""
    rule: str = ""
    """The code of the rule that the problem breaks."""

    @classmethod
    def failed(cls, node: str, check: CheckResult, line: int | None = None) -> FunctionProfile:
        """A Function, or module, that could not be profiled for the reason that `check` gives."""
        return cls(node=node, line=line, problem=_in_one_line(check), rule=check.rule)


def _in_one_line(check: CheckResult) -> str:
    if not check.findings:
        return check.reason or ""
    finding = check.findings[0]
    place = finding.location
    where = f" ({place.path}{f':{place.line}' if place.line else ''})" if place else ""
    return f"{finding.message}{where}" + (f"; {finding.hint}" if finding.hint else "")


class ProfileReport(_Struct, frozen=True, kw_only=True):
    """Everything that a run measured."""

    schema: int = SCHEMA_VERSION
    environment: Environment
    command: str = ""
    budget: float
    """Seconds that each case was sampled for at most."""
    functions: tuple[FunctionProfile, ...] = ()
    notices: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False

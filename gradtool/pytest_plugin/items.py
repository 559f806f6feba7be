"""Items that pytest collects: a test of each Function, and one of it at each of its cases.

Names are chosen so that pytest's node ids are gradtool's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import pytest

from gradtool.checking.unit import Unit
from gradtool.errors import UsageError
from gradtool.pytest_plugin.answers import Answered, FunctionRun
from gradtool.report.findings import check_findings
from gradtool.report.reasons import reason
from gradtool.report.verdicts import STOPPING, overall, standing
from gradtool.report.words import one_line
from gradtool.results.report import CheckResult, Finding, Location, Verdict
from gradtool.run.session import Session


class ModuleFile(pytest.File):
    """A module whose Functions are checked."""

    gate_session: Session
    is_walked: bool

    def collect(self) -> Iterator[CheckItem]:
        """Collect each Function, and each at each case; the module itself if it is broken."""
        try:
            yield from self._items()
        except UsageError as error:
            raise self.CollectError(str(error)) from None

    def _items(self) -> Iterator[CheckItem]:
        module, strict = self.gate_session.module(self.path, is_walked=self.is_walked)
        if module is None:
            return
        if module.problem is not None:
            broken = Answered((module.problem,), Location(path=module.shown))
            yield CheckItem.of(self, "import", broken, strict)
        for unit in module.units:
            yield from self._of_function(unit, strict)

    def _of_function(self, unit: Unit, strict: bool) -> Iterator[CheckItem]:
        found = self.gate_session.listed(unit)
        run = FunctionRun(self.gate_session, unit, found)
        yield CheckItem.of(self, unit.function, run, strict)
        for case in found.cases:
            yield CheckItem.of(self, f"{unit.function}[{case.name}]", run, strict, case.name)


class CheckItem(pytest.Item):
    """The test of a Function at a case, of the Function itself, or of an import."""

    run: FunctionRun | Answered
    strict: bool
    case: str | None
    remarks: tuple[tuple[str, str], ...] = ()
    """Sections of the report of a test that passed, with their titles."""

    @classmethod
    def of(
        cls,
        parent: ModuleFile,
        name: str,
        run: FunctionRun | Answered,
        strict: bool,
        case: str | None = None,
    ) -> CheckItem:
        """The test that `run` answers."""
        found: CheckItem = cls.from_parent(parent, name=name)
        found.run, found.strict, found.case = run, strict, case
        return found

    def want(self) -> None:
        """Note that the test will be run."""
        self.run.want(self.case)

    @property
    def place(self) -> tuple[str, int | None]:
        """File and line of the Function."""
        return self.run.location.path, self.run.location.line

    def reportinfo(self) -> tuple[str, int | None, str]:
        """File, line from 0, and name, for pytest's own lists."""
        path, line = self.place
        return path, None if line is None else line - 1, self.name

    def runtest(self) -> None:
        """Pass, fail with the findings, xfail if all are known, or skip with the reason."""
        checks = self.run.answer(self.case)
        stopping = [c for c in checks if standing(c, strict=self.strict) in STOPPING]
        if stopping:
            raise CheckFailedError(self._findings(stopping))
        self.remarks = tuple(self._remarks(checks))
        # A Function has checks of its own only where there is something to say.
        verdict = overall(checks, strict=self.strict) if checks else None
        if verdict is Verdict.KNOWN:
            pytest.xfail(_known(checks))
        if verdict is Verdict.SKIPPED:
            pytest.skip(_why_skipped(checks))
        if self.case is None and self.run.has_failed:
            pytest.skip("other arguments are tried once all cases pass")

    def _remarks(self, checks: Sequence[CheckResult]) -> Iterator[tuple[str, str]]:
        """Findings that fail nothing, and what was left out."""
        for finding in self._findings(checks):
            yield f"{finding.severity.value} {finding.rule}", FindingsRepr([finding]).plain()
        left = [f"{c.rule}: {reason(c)}" for c in checks if c.verdict is Verdict.SKIPPED]
        if left:
            yield "not checked", "\n".join(map(one_line, left))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> object:  # type: ignore[override]  # shown by what it can do, not by its type
        """The findings as gradtool prints them; the traceback would only show the plugin."""
        if isinstance(excinfo.value, CheckFailedError):
            return FindingsRepr(excinfo.value.findings)
        return super().repr_failure(excinfo)

    def _findings(self, checks: Sequence[CheckResult]) -> list[Finding]:
        return list(check_findings(tuple(checks), self.nodeid, self.run.location))


def _known(checks: Sequence[CheckResult]) -> str:
    found = (finding for check in checks for finding in check.findings if finding.known)
    return ", ".join(dict.fromkeys(f"{each.rule} {each.name}" for each in found))


def _why_skipped(checks: Sequence[CheckResult]) -> str:
    reasons = dict.fromkeys(one_line(why) for why in map(reason, checks) if why)
    return "; ".join(reasons) or "nothing was checked"


class CheckFailedError(Exception):
    """Rules are violated, or could not be verified."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(*(finding.message for finding in findings))
        self.findings = findings


class Writer(Protocol):
    """The part of pytest's terminal writer that `FindingsRepr` uses."""

    fullwidth: int
    hasmarkup: bool

    def write(self, msg: str) -> None:
        """Write text as it is."""


class FindingsRepr:
    """Findings in the form in which pytest prints, summarizes and pickles failures."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._findings = findings
        self.reprcrash = _CrashSummary(findings)

    def toterminal(self, tw: Writer) -> None:
        """Print the findings at the width and in the colours of the terminal."""
        tw.write(self._text(width=tw.fullwidth, is_colored=tw.hasmarkup))

    def plain(self) -> str:
        """The findings as text."""
        return self._text(width=None, is_colored=False).rstrip("\n")

    __str__ = plain

    def _text(self, *, width: int | None, is_colored: bool) -> str:
        from gradtool.report.terminal.findings import findings_text  # Late: it loads Rich.

        return findings_text(self._findings, width=width, is_colored=is_colored)


class _CrashSummary:
    """One line and a place, for pytest's short summary."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        first = findings[0]
        more = f" (+{len(findings) - 1} more)" if len(findings) > 1 else ""
        self.path = first.location.path
        self.lineno = first.location.line or 0
        self.message = f"{first.rule} {one_line(first.message)}{more}"

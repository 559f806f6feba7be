"""Items that pytest collects: a module, its Functions at their cases, and a test for each rule.

Names are chosen so that pytest's node ids are gradtool's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import pytest

from gradtool.checking.unit import Unit
from gradtool.errors import UsageError
from gradtool.pytest_plugin.answers import Answered, FunctionRun, rules_of_case, rules_of_function
from gradtool.report.findings import check_findings
from gradtool.report.reasons import reason
from gradtool.report.verdicts import STOPPING, standing
from gradtool.report.words import one_line
from gradtool.results.report import CheckResult, Finding, Location, Verdict
from gradtool.run.session import Session


class ModuleFile(pytest.File):
    """A module whose Functions are checked."""

    gate_session: Session
    is_walked: bool

    def collect(self) -> Iterator[Owner | RuleItem]:
        """Collect each Function, and each at each case; the module itself if it is broken."""
        try:
            owners = list(self._owners())
        except UsageError as error:
            raise self.CollectError(str(error)) from None
        yield from owners
        for owner in owners:
            yield from self._named(owner)

    def _named(self, owner: Owner) -> Iterator[RuleItem]:
        """Tests whose whole node ids are arguments of pytest's.

        pytest takes all that follows a bracket for a part of the last name, so it finds these
        only where the name of the test says it all.
        """
        for rule in owner.rules:
            name = f"{owner.name}::{rule}"
            if any(
                argument.endswith(f"]::{rule}") and f"::{name}" in argument
                for argument in self.config.args
            ):
                yield RuleItem.of(self, name, owner, rule)

    def _owners(self) -> Iterator[Owner]:
        module, strict = self.gate_session.module(self.path, is_walked=self.is_walked)
        if module is None:
            return
        if module.problem is not None:
            broken = Answered((module.problem,), Location(path=module.shown))
            yield Owner.of(self, "import", broken, (module.problem.rule,), strict)
        for unit in module.units:
            yield from self._of_function(unit, strict)

    def _of_function(self, unit: Unit, strict: bool) -> Iterator[Owner]:
        found = self.gate_session.listed(unit)
        run = FunctionRun(self.gate_session, unit, found)
        yield Owner.of(self, unit.function, run, rules_of_function(unit, found), strict)
        for case in found.cases:
            name = f"{unit.function}[{case.name}]"
            yield Owner.of(self, name, run, rules_of_case(unit), strict, case.name)


class Owner(pytest.Collector):
    """The subject of some rules: a Function at a case, a Function, or a module."""

    run: FunctionRun | Answered
    rules: Sequence[str]
    strict: bool
    case: str | None

    @classmethod
    def of(
        cls,
        parent: ModuleFile,
        name: str,
        run: FunctionRun | Answered,
        rules: Sequence[str],
        strict: bool,
        case: str | None = None,
    ) -> Owner:
        """The owner of some rules, answered by `run`."""
        found: Owner = cls.from_parent(parent, name=name)
        found.run, found.rules, found.strict, found.case = run, rules, strict, case
        return found

    def collect(self) -> Iterator[RuleItem]:
        """Collect a test for each rule."""
        for rule in self.rules:
            yield RuleItem.of(self, rule, self, rule)


class RuleItem(pytest.Item):
    """One rule at one case."""

    owner: Owner
    rule: str

    @classmethod
    def of(cls, parent: pytest.Collector, name: str, owner: Owner, rule: str) -> RuleItem:
        """The test of `rule` for `owner`, under a name below `parent`."""
        found: RuleItem = cls.from_parent(parent, name=name)
        found.owner, found.rule = owner, rule
        return found

    def want(self) -> None:
        """Note that the test will be run."""
        self.owner.run.want(self.owner.case)

    @property
    def place(self) -> tuple[str, int | None]:
        """File and line of the Function."""
        location = self.owner.run.location
        return location.path, location.line

    def reportinfo(self) -> tuple[str, int | None, str]:
        """File, line from 0, and name, for pytest's own lists."""
        path, line = self.place
        return path, None if line is None else line - 1, f"{self.owner.name}::{self.rule}"

    def runtest(self) -> None:
        """Pass, fail with the findings, or skip with the reason."""
        found = self.owner.run.answer(self.owner.case, self.rule)
        verdict = standing(found, strict=self.owner.strict)
        if verdict in STOPPING:
            raise RuleBrokenError(list(self._findings(found)))
        if verdict is Verdict.SKIPPED:
            pytest.skip(reason(found) or "not asked")
        for finding in found.findings:
            self.add_report_section("call", finding.severity.value, FindingsRepr([finding]).plain())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> object:  # type: ignore[override]  # shown by what it can do, not by its type
        """The findings as gradtool prints them; the traceback would only show the plugin."""
        if isinstance(excinfo.value, RuleBrokenError):
            return FindingsRepr(excinfo.value.findings)
        return super().repr_failure(excinfo)

    def _findings(self, check: CheckResult) -> Iterable[Finding]:
        return check_findings((check,), self.nodeid.rpartition("::")[0], self.owner.run.location)


class RuleBrokenError(Exception):
    """A rule is broken, or could not be verified."""

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
    """Findings in the form in which pytest prints, summarises and pickles failures."""

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
        self.path = first.location.path
        self.lineno = first.location.line or 0
        self.message = one_line(first.message)

"""Heeds the comments that say what to ignore, and finds those that nothing needs.

This is done with the answers of a Function, where all its cases are known; the rules are asked
in any case. A comment in code outside the Function is heeded, but whether it is needed, one
Function cannot tell.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gradtool.checking.unit import Done, Unit
from gradtool.collect.loader import LoadError, parse
from gradtool.errors import UsageError
from gradtool.findings.finding import make_finding
from gradtool.policy.comments import Comment, read_comments
from gradtool.policy.rewriting import changed_function
from gradtool.results.report import (
    CheckResult,
    Finding,
    FunctionResult,
    Location,
    Skip,
    SkipKind,
    Verdict,
    skipped,
)
from gradtool.verify.rules import RULES, codes


class Ignores:
    """The comments of all files that findings speak of; each file is read once."""

    def __init__(self) -> None:
        self._comments: dict[str, tuple[Comment, ...]] = {}

    def require_right(self, path: Path, shown: str) -> None:
        """Read the comments of a file that is to be checked.

        Raises:
            UsageError: One of them is wrong.
        """
        self._comments[shown] = read_comments(path, shown)

    def heeded(self, done: Done, unit: Unit) -> Done:
        """The answer for a Function without what its comments ignore."""
        heed = _Heed(self, done.function, unit)
        function = changed_function(done.function, heed.change)
        checks = _with_needless(function.checks, heed.needless(done))
        return msgspec.structs.replace(
            done, function=msgspec.structs.replace(function, checks=checks)
        )

    def of(self, shown: str) -> tuple[Comment, ...]:
        """The comments of a file; one that is wrong in a file of no run holds for nothing."""
        if shown not in self._comments:
            try:
                self._comments[shown] = read_comments(Path(shown), shown)
            except UsageError:
                self._comments[shown] = ()
        return self._comments[shown]


class _Heed:
    """The comments that concern one Function, and which of them were of use."""

    def __init__(self, ignores: Ignores, function: FunctionResult, unit: Unit) -> None:
        self._ignores = ignores
        self._function = function
        self._unit = unit
        self._used: set[Comment] = set()

    def change(self, check: CheckResult) -> CheckResult:
        """A check without the findings that are ignored; skipped if none is left."""
        if not check.findings:
            comment = None if check.verdict is Verdict.PASS else self._of_whole(check.rule)
            return self._skipped(check, comment) if comment else check
        told = [(finding, self._silencing(finding)) for finding in check.findings]
        kept = tuple(finding for finding, comment in told if comment is None)
        used = [comment for _, comment in told if comment is not None]
        self._used.update(used)
        if used and not kept:
            return self._skipped(check, used[0])
        return msgspec.structs.replace(check, findings=kept) if used else check

    def _skipped(self, check: CheckResult, comment: Comment) -> CheckResult:
        self._used.add(comment)
        skip = Skip(kind=SkipKind.IGNORED_BY_COMMENT, detail=comment.reason, line=comment.line)
        return skipped(check, skip)

    def _silencing(self, finding: Finding) -> Comment | None:
        """What excuses a finding; a doubt about a derivative also what excuses another gradient."""
        found = self._covering(finding, finding.rule)
        excuse = RULES[finding.rule].excused_with
        return found or (self._covering(finding, excuse) if excuse else None)

    def _covering(self, finding: Finding, rule: str) -> Comment | None:
        location = finding.location
        there = self._ignores.of(location.path)
        return self._of_whole(rule) or next(
            (c for c in there if rule in c.rules and c.covers(location.line)), None
        )

    def _of_whole(self, rule: str) -> Comment | None:
        """A comment on the line of the class, which holds wherever the finding is."""
        line = self._unit.line
        found = self._ignores.of(self._unit.shown)
        return next((c for c in found if rule in c.rules and c.covers(line)), None)

    def needless(self, done: Done) -> list[Finding]:
        """A finding for each comment in the Function that ignored nothing."""
        settings = self._unit.settings
        if codes.NEEDLESS not in settings.codes or not _is_complete(done, self._unit):
            return []
        return [
            make_finding(
                codes.NEEDLESS,
                self._unit.node,
                settings,
                message=f"{_named(comment)} need not be ignored: "
                f"nothing that the comment covers breaks it ({comment.reason})",
                location=Location(path=self._unit.shown, line=comment.line),
                hint="remove the comment",
            )
            for comment in self._own()
            if comment not in self._used and self._is_answered(comment)
        ]

    def _own(self) -> list[Comment]:
        """The comments within the Function."""
        first, last = _extent(Path(self._unit.path), self._unit.line)
        found = self._ignores.of(self._unit.shown)
        return [comment for comment in found if first <= comment.line <= last]

    def _is_answered(self, comment: Comment) -> bool:
        """Whether all its rules were asked of every case, and none left in doubt."""
        asked = frozenset(self._unit.settings.codes)
        if not comment.rules <= asked or not all(RULES[code].check for code in comment.rules):
            return False
        checks = [check for case in self._function.cases for check in case.checks]
        return not any(
            check.rule in comment.rules and check.verdict is not Verdict.PASS and not check.findings
            for check in checks
        )


def _is_complete(done: Done, unit: Unit) -> bool:
    """Whether all cases were checked, each to its end."""
    cases = done.function.cases
    broken = any(check.verdict is Verdict.ERROR for case in cases for check in case.checks)
    return bool(cases) and not broken and not done.deselected and not unit.only


def _named(comment: Comment) -> str:
    listed = sorted(comment.rules)
    return listed[0] if len(listed) == 1 else f"{listed[0]} to {listed[-1]}"


def _extent(path: Path, line: int | None) -> tuple[int, int]:
    """First and last line of what is defined on `line`."""
    try:
        tree = parse(path)
    except LoadError:
        return (0, -1)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.lineno == line:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            return first, node.end_lineno or node.lineno
    return (0, -1)


def _with_needless(
    checks: Sequence[CheckResult], found: Sequence[Finding]
) -> tuple[CheckResult, ...]:
    """The checks of a Function with more needless settings in the answer of GT511."""
    if not found:
        return tuple(checks)
    before = [check for check in checks if check.rule == codes.NEEDLESS]
    findings = tuple(finding for check in before for finding in check.findings)
    answer = CheckResult(rule=codes.NEEDLESS, verdict=Verdict.FAIL, findings=(*findings, *found))
    return (*(check for check in checks if check.rule != codes.NEEDLESS), answer)

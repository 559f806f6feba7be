"""Skip what the configuration or a comment ignores, and report needless comments (GT511).

A comment in code outside a Function is applied, but one Function cannot tell whether it is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gradtool.checking.unit import Unit
from gradtool.collect.loader import LoadError, digest, parse, read_source
from gradtool.config.settings import Settings
from gradtool.errors import UsageError
from gradtool.findings.needless_ignore import needless_ignore
from gradtool.policy.changes import Policy, RunSettings, change_function, change_functions
from gradtool.policy.comments import Comment, comments_in
from gradtool.results.report import (
    CheckResult,
    Finding,
    FunctionResult,
    Location,
    ModuleResult,
    Report,
    Skip,
    SkipKind,
    Verdict,
    skipped,
)
from gradtool.verify.rules import RULES, codes


class Comments:
    """The comments in all files that findings point to; each file is read once."""

    def __init__(self) -> None:
        self._by_file: dict[str, tuple[Comment, ...]] = {}

    def require_valid(self, path: Path, shown: str) -> str:
        """Read the comments of a file that is to be checked.

        Returns:
            The digest of its source; empty where it cannot be read, which the import reports.

        Raises:
            UsageError: One of them is wrong.
        """
        try:
            source = read_source(path)
        except LoadError:
            source = None
        self._by_file[shown] = () if source is None else comments_in(source, shown)
        return "" if source is None else digest(source)

    def of(self, shown: str) -> tuple[Comment, ...]:
        """The comments in a file; none for a file outside the run with an invalid comment."""
        if shown not in self._by_file:
            try:
                self._by_file[shown] = comments_in(read_source(Path(shown)), shown)
            except (UsageError, LoadError):
                self._by_file[shown] = ()
        return self._by_file[shown]


def apply_configured_ignores(run: RunSettings) -> Policy:
    """Skip each failed check that the configuration ignores."""

    def policy(report: Report) -> Report:
        modules = tuple(_configured(module, run) for module in report.modules)
        return msgspec.structs.replace(report, modules=modules)

    return policy


def _configured(module: ModuleResult, run: RunSettings) -> ModuleResult:
    own = run.modules.get(module.path, Settings())
    functions = []
    for function in module.functions:
        settings = run.units[f"{module.path}::{function.name}"].settings
        functions.append(change_function(function, settings.apply_ignores))
    checks = tuple(map(own.apply_ignores, module.checks))
    return msgspec.structs.replace(module, functions=tuple(functions), checks=checks)


def apply_comment_ignores(run: RunSettings, comments: Comments) -> Policy:
    """Remove the findings that a comment covers, and add one for each needless comment."""

    def function(node: str, result: FunctionResult) -> FunctionResult:
        ignore = _CommentsOfFunction(comments, result, run.units[node])
        changed = change_function(result, ignore.change)
        # A deselected case may be what the comment is for, so it cannot be called needless.
        if node in run.partial:
            return changed
        checks = _with_needless(changed.checks, ignore.needless())
        return msgspec.structs.replace(changed, checks=checks)

    def policy(report: Report) -> Report:
        return change_functions(report, function)

    return policy


class _CommentsOfFunction:
    """The comments that concern one Function, and which of them were used."""

    def __init__(self, comments: Comments, function: FunctionResult, unit: Unit) -> None:
        self._comments = comments
        self._function = function
        self._unit = unit
        self._used: set[Comment] = set()

    def change(self, check: CheckResult) -> CheckResult:
        """A check without the findings that are ignored; skipped if none is left."""
        if check.rule in codes.FINAL:
            return check
        if not check.findings:
            comment = None if check.verdict is Verdict.PASS else self._on_class(check.rule)
            return self._skipped(check, comment) if comment else check
        covered = [(finding, self._covering_any(finding)) for finding in check.findings]
        remaining = tuple(finding for finding, comment in covered if comment is None)
        used = [comment for _, comment in covered if comment is not None]
        self._used.update(used)
        if used and not remaining:
            return self._skipped(check, used[0])
        return msgspec.structs.replace(check, findings=remaining) if used else check

    def _skipped(self, check: CheckResult, comment: Comment) -> CheckResult:
        self._used.add(comment)
        skip = Skip(kind=SkipKind.IGNORED_BY_COMMENT, detail=comment.reason, line=comment.line)
        return skipped(check, skip)

    def _covering_any(self, finding: Finding) -> Comment | None:
        """The comment that covers a finding; one for GT101 covers GT603 too."""
        found = self._covering(finding, finding.rule)
        excuse = RULES[finding.rule].excused_with
        return found or (self._covering(finding, excuse) if excuse else None)

    def _covering(self, finding: Finding, rule: str) -> Comment | None:
        location = finding.location
        there = self._comments.of(location.path)
        return self._on_class(rule) or next(
            (c for c in there if rule in c.rules and c.covers(location.line)), None
        )

    def _on_class(self, rule: str) -> Comment | None:
        """A comment on the line of the class, which holds wherever the finding is."""
        line = self._unit.line
        found = self._comments.of(self._unit.shown)
        return next((c for c in found if rule in c.rules and c.covers(line)), None)

    def needless(self) -> list[Finding]:
        """A finding for each comment in the Function that ignored nothing."""
        settings = self._unit.settings
        if codes.NEEDLESS not in settings.codes or not _is_complete(self._function, self._unit):
            return []
        return [
            needless_ignore(
                self._unit.node,
                settings,
                sorted(comment.rules),
                nothing="no line that the comment covers",
                reason=comment.reason,
                location=Location(path=self._unit.shown, line=comment.line),
                hint="remove the comment",
            )
            for comment in self._own()
            if comment not in self._used and self._is_settled(comment)
        ]

    def _own(self) -> list[Comment]:
        """The comments within the Function."""
        first, last = _extent(Path(self._unit.path), self._unit.line)
        found = self._comments.of(self._unit.shown)
        return [comment for comment in found if first <= comment.line <= last]

    def _is_settled(self, comment: Comment) -> bool:
        """Return True if all its rules were checked at every case, and none is unverified."""
        selected = frozenset(self._unit.settings.codes)
        if not comment.rules <= selected or not all(RULES[code].check for code in comment.rules):
            return False
        checks = [check for case in self._function.cases for check in case.checks]
        return not any(
            check.rule in comment.rules and check.verdict is not Verdict.PASS and not check.findings
            for check in checks
        )


def _is_complete(function: FunctionResult, unit: Unit) -> bool:
    """Return True if all cases were requested, and each was checked to its end."""
    cases = function.cases
    broken = any(check.verdict is Verdict.ERROR for case in cases for check in case.checks)
    return bool(cases) and not broken and not unit.only


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
    """The checks of a Function with more findings in its GT511."""
    if not found:
        return tuple(checks)
    before = [check for check in checks if check.rule == codes.NEEDLESS]
    findings = tuple(finding for check in before for finding in check.findings)
    answer = CheckResult(rule=codes.NEEDLESS, verdict=Verdict.FAIL, findings=(*findings, *found))
    return (*(check for check in checks if check.rule != codes.NEEDLESS), answer)

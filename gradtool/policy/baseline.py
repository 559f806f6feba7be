"""The baseline: findings that were there when a project began to use gradtool.

They do not fail a run, and everything new does. The file is made to be committed: its
entries are sorted, name no line and no number, and read the same from any folder, because
their paths are relative to the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from gradtool.config.options import CheckOptions, SelectionOptions
from gradtool.errors import UsageError
from gradtool.policy.changes import Policy, change_checks
from gradtool.regular_file import read_regular
from gradtool.results.fingerprint import VERSION, fingerprints
from gradtool.results.paths import split_path
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Family,
    Finding,
    FunctionResult,
    ModuleResult,
    Report,
    Severity,
    Verdict,
)
from gradtool.verify.rules import codes

FILE_NAME = "gradtool-baseline.json"
"""Where a baseline is written when no other file is named."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """One finding that is known."""

    node: str
    """``path/mod.py::Function[case]``, the path relative to the file."""
    rule: Annotated[str, msgspec.Meta(pattern=r"^GT\d{3}$")]
    fingerprint: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]


class _File(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    gradtool_baseline: Literal[1]
    fingerprints: str
    findings: tuple[Entry, ...]


class Baseline(msgspec.Struct, frozen=True):
    """The entries of a file, which need not exist yet."""

    path: Path
    entries: frozenset[Entry] = frozenset()

    def text(self) -> str:
        """The content of the file: one entry a line, in a fixed order."""
        listed = ",\n".join(f"    {_line(entry)}" for entry in sorted(self.entries))
        findings = f"[\n{listed}\n  ]" if listed else "[]"
        head = f'{{\n  "gradtool_baseline": 1,\n  "fingerprints": "{VERSION}",\n'
        return f'{head}  "findings": {findings}\n}}\n'

    def without(self, gone: frozenset[Entry]) -> Baseline:
        """The same without some entries."""
        return Baseline(self.path, self.entries - gone)

    def joined(self, found: frozenset[Entry]) -> Baseline:
        """The same with more entries."""
        return Baseline(self.path, self.entries | found)

    def node(self, finding: Finding) -> str:
        """The node of a finding as the file spells it."""
        return relocated(finding.node_id.removesuffix(f"::{finding.rule}"), self.path.parent)


# The compact form of msgspec has no spaces, its indented one takes several lines for an entry.
def _line(entry: Entry) -> str:
    text = msgspec.json.encode(entry).decode()
    return text.replace('":"', '": "').replace('","', '", "')


def relocated(node: str, folder: Path) -> str:
    """A node id with its path relative to `folder` in place of the current one."""
    path, separator, rest = split_path(node)
    try:
        path = os.path.relpath(path, folder)
    except ValueError:  # Another drive.
        path = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links
    return f"{path.replace(os.sep, '/')}{separator}{rest}"


def read_baseline(name: str, *, may_be_new: bool = False) -> Baseline:
    """Read the file `name`.

    Args:
        name: Its path.
        may_be_new: It may be missing, as one that is about to be written.

    Raises:
        UsageError: It cannot be read, or is no baseline that this gradtool understands.
    """
    path = Path(name).absolute()
    try:
        data = read_regular(path)
    except FileNotFoundError:
        if may_be_new:
            return Baseline(path)
        raise UsageError(
            f"baseline {name} does not exist: --write-baseline creates it from the current findings"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"baseline {name} cannot be read: {reason}") from None
    return Baseline(path, frozenset(_decoded(data, name).findings))


def _decoded(data: bytes, name: str) -> _File:
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{name} is not a gradtool baseline: {error}") from None
    if file.fingerprints != VERSION:
        raise UsageError(
            f"baseline {name} has {file.fingerprints!r} fingerprints, but this gradtool uses "
            f"{VERSION!r}: write it again with --write-baseline"
        )
    return file


def _can_be_known(finding: Finding) -> bool:
    return finding.severity is not Severity.NOTE and finding.rule not in codes.FINAL


def entries_of(baseline: Baseline, report: Report) -> dict[int, Entry]:
    """The entry of each finding that can fail a run, by the identity of the finding."""
    found = [f for f in report.findings() if _can_be_known(f)]
    nodes = [baseline.node(finding) for finding in found]
    placed = [
        msgspec.structs.replace(finding, node_id=f"{node}::{finding.rule}")
        for finding, node in zip(found, nodes, strict=True)
    ]
    return {
        # By identity: two equal findings have different fingerprints.
        id(finding): Entry(node=node, rule=finding.rule, fingerprint=print_)
        for finding, node, print_ in zip(found, nodes, fingerprints(placed), strict=True)
    }


def mark_known(baseline: Baseline) -> Policy:
    """Mark the findings that the baseline has as known."""
    # Fingerprints alone: the node and rule in an entry are there for readers of the file.
    known = {entry.fingerprint for entry in baseline.entries}

    def policy(report: Report) -> Report:
        entries = entries_of(baseline, report)

        def mark(check: CheckResult) -> CheckResult:
            findings = tuple(
                msgspec.structs.replace(each, known=True)
                if id(each) in entries and entries[id(each)].fingerprint in known
                else each
                for each in check.findings
            )
            return msgspec.structs.replace(check, findings=findings)

        return msgspec.structs.replace(report, modules=change_checks(report.modules, mark))

    return policy


def obsolete(baseline: Baseline, report: Report, options: CheckOptions) -> frozenset[Entry]:
    """The entries that are obsolete: the run of `report` checked them, and did not find them.

    Entries that the run did not check stay. So neither a shard, nor ``-k``, nor a module that does
    not import today takes anything out of the file.
    """
    numeric, config = options.numeric, options.config
    changed = (numeric.dtype, numeric.atol, numeric.rtol)
    reconfigured = config.isolated or config.overrides or config.variables
    is_part = bool(report.interrupted or report.faults)
    # A finding may be missing because of other numbers or tolerances, not because it was repaired.
    if is_part or reconfigured or any(v is not None for v in changed):
        return frozenset()
    found = {entry.fingerprint for entry in entries_of(baseline, report).values()}
    run = _Checked(report, baseline, is_whole=is_whole(options.selection))
    unseen = (entry for entry in baseline.entries if entry.fingerprint not in found)
    return frozenset(entry for entry in unseen if run.has_checked(entry))


def is_whole(options: SelectionOptions) -> bool:
    """Return True if all Functions and cases of each module were selected."""
    parts = (options.shard, options.keyword, options.only_failed or None)
    return not any("::" in path for path in options.paths) and not any(parts)


class _Checked(msgspec.Struct, frozen=True):
    report: Report
    baseline: Baseline
    is_whole: bool

    def has_checked(self, entry: Entry) -> bool:
        """Return True if the run would have found `entry`, were it still there."""
        path, _, name = split_path(entry.node)
        function, _, case = name.partition("[")
        # The file was deleted, so its findings are gone though no run can check it.
        if not (self.baseline.path.parent / path).exists():
            return True
        module = next((m for m in self.report.modules if self._path(m) == path), None)
        if module is None or entry.rule in self.report.left_out:
            return False
        if not function or module.checks:
            return not function and not module.checks
        return self._has_checked_of(module, function, case.removesuffix("]"), entry.rule)

    def _path(self, module: ModuleResult) -> str:
        return relocated(module.path, self.baseline.path.parent)

    def _has_checked_of(self, module: ModuleResult, name: str, case: str, rule: str) -> bool:
        function = next((f for f in module.functions if f.name == name), None)
        if function is None:
            return self.is_whole
        if not case:
            return self.is_whole and _is_complete(function)
        found = next((c for c in function.cases if c.name == case), None)
        if found is None:
            return self.is_whole and bool(function.cases)
        return _was_checked(found, rule)


def _is_complete(function: FunctionResult) -> bool:
    cases = function.cases
    return bool(cases) and not any(_has_broken(case.checks) for case in cases)


def _has_broken(checks: Iterable[CheckResult]) -> bool:
    return any(check.verdict is Verdict.ERROR for check in checks)


def _was_checked(case: CaseResult, rule: str) -> bool:
    checks: Sequence[CheckResult] = [check for check in case.checks if check.rule == rule]
    if not checks:  # A rule of running is reported only where it is broken.
        return rule in Family.RUNNING and not _has_broken(case.checks)
    skipped = [check for check in checks if check.verdict is Verdict.SKIPPED]
    return all(check.skip is not None and check.skip.leaves_nothing for check in skipped)

"""The baseline: findings that were there when a project took gradtool up.

They do not fail the gate, and everything new does. The file is made to be committed: its
entries are sorted, name no line and no number, and read the same whatever folder a run is
started in, because their paths are relative to the file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from gradtool.errors import UsageError
from gradtool.policy.changes import Policy, change_checks
from gradtool.results.fingerprint import VERSION, fingerprints
from gradtool.results.paths import split_path
from gradtool.results.report import CheckResult, Finding, Report, Severity

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


@dataclass(frozen=True)
class Baseline:
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
        data = path.read_bytes()
    except FileNotFoundError:
        if may_be_new:
            return Baseline(path)
        raise UsageError(
            f"baseline {name} does not exist: --write-baseline makes it of what is found now"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"baseline {name} cannot be read: {reason}") from None
    return Baseline(path, frozenset(_decoded(data, name).findings))


def _decoded(data: bytes, name: str) -> _File:
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{name} is no baseline of gradtool: {error}") from None
    if file.fingerprints != VERSION:
        raise UsageError(
            f"baseline {name} has fingerprints of {file.fingerprints!r}, and this gradtool makes "
            f"{VERSION!r}: write it anew with --write-baseline"
        )
    return file


def entries_of(baseline: Baseline, report: Report) -> dict[int, Entry]:
    """The entry of each finding that can fail a run, by the identity of the finding."""
    found = [f for f in report.findings() if f.severity is not Severity.NOTE]
    nodes = [baseline.node(finding) for finding in found]
    placed = [
        msgspec.structs.replace(finding, node_id=f"{node}::{finding.rule}")
        for finding, node in zip(found, nodes, strict=True)
    ]
    return {
        id(finding): Entry(node=node, rule=finding.rule, fingerprint=print_)
        for finding, node, print_ in zip(found, nodes, fingerprints(placed), strict=True)
    }


def mark_known(baseline: Baseline) -> Policy:
    """Mark the findings that the baseline has as known."""
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

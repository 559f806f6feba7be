"""The cache of the last run: what failed, for ``--lf`` and ``--ff``, and findings for ``--replay``.

A run replaces what it checked and leaves the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from gradtool.regular_file import read_regular
from gradtool.results.fingerprint import fingerprints
from gradtool.results.paths import split_path
from gradtool.results.report import Finding, Report, Severity

FOLDER = ".gradtool_cache"
FILE = "last.json"
FINDINGS_FILE = "findings.json"

FILES = {
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is gradtool's cache: https://bford.info/cachedir/\n",
    ".gitignore": "*\n",
    "README.md": "# gradtool's cache\n\nFailures of the last run, used by `gradtool check --lf`, "
    "`--ff` and `--replay`.\nThis folder can be deleted at any time. Do not commit it.\n",
}
"""Other files in the folder, by which backups, git and people recognize a cache."""


class _File(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    version: Literal[1]
    failed: tuple[str, ...]


class UnreadableError(Exception):
    """The cache cannot be read; its text says why."""


def read_failed(folder: Path) -> frozenset[str]:
    """Node ids of Functions, and paths of modules, that failed; empty without a cache.

    Raises:
        UnreadableError: There is a cache, and it cannot be read.
    """
    path = folder / FOLDER / FILE
    try:
        return frozenset(msgspec.json.decode(read_regular(path), type=_File).failed)
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableError(str(error)) from None


def text(failed: Collection[str]) -> str:
    """The content of the cache's file."""
    return (
        msgspec.json.format(
            msgspec.json.encode(_File(version=1, failed=tuple(sorted(failed)))).decode(), indent=1
        )
        + "\n"
    )


def updated(
    before: Collection[str], report: Report, failing: Collection[str], *, is_whole: bool
) -> frozenset[str]:
    """The nodes known to fail after the run of `report`.

    Args:
        before: What was known to fail.
        report: What the run found out.
        failing: The nodes that failed in it.
        is_whole: It asked for every Function of each of its modules.
    """
    checked = {f"{module.path}::{function.name}" for module, function in report.functions()}
    paths = {module.path for module in report.modules}
    gone = {node for node in before if is_whole and split_path(node)[0] in paths}
    return frozenset(before) - checked - gone - paths | frozenset(failing)


class KnownFinding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The data needed to replay a finding."""

    node: str
    """``path/mod.py::Function[case]::GT101``."""
    fingerprint: str
    seed: int | None = None
    replay: str | None = None
    """The command line in the finding, if it had one."""


class _Findings(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    version: Literal[1]
    findings: tuple[KnownFinding, ...]


def known_findings(findings: Iterable[Finding], seed: int) -> tuple[KnownFinding, ...]:
    """Records of `findings`, all those of a run with this seed."""
    listed = list(findings)
    return tuple(
        KnownFinding(
            node=finding.node_id,
            fingerprint=print_,
            seed=seed if finding.seed is None else finding.seed,
            replay=finding.replay,
        )
        for finding, print_ in zip(listed, fingerprints(listed), strict=True)
        if finding.severity is not Severity.NOTE
    )


def read_findings(folder: Path) -> tuple[KnownFinding, ...]:
    """The findings of the last run in `folder`; none without a cache.

    Raises:
        UnreadableError: There is a cache, and it cannot be read.
    """
    path = folder / FOLDER / FINDINGS_FILE
    try:
        return msgspec.json.decode(read_regular(path), type=_Findings).findings
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableError(str(error)) from None


def findings_text(findings: Sequence[KnownFinding]) -> str:
    """The content of the cache's file."""
    text = msgspec.json.encode(_Findings(version=1, findings=tuple(findings))).decode()
    return f"{msgspec.json.format(text, indent=1)}\n"


def updated_findings(
    before: Iterable[KnownFinding], report: Report, found: Sequence[KnownFinding]
) -> tuple[KnownFinding, ...]:
    """The records after the run of `report`, which found `found`."""
    checked = {f"{module.path}::{function.name}" for module, function in report.functions()}
    checked |= {module.path for module in report.modules}
    others = (each for each in before if _owner(each.node) not in checked)
    return (*others, *found)


def _owner(node: str) -> str:
    """The Function that a finding is of, or the module."""
    path, _, rest = split_path(node)
    function, separator, _ = rest.rpartition("::")
    return f"{path}::{function.partition('[')[0]}" if separator else path

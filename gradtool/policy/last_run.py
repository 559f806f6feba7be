"""What failed in the last run, kept in a cache for ``--lf`` and ``--ff``.

Only failures are kept, by node id. A run changes what it asked about and leaves the rest.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Literal

import msgspec

from gradtool.results.paths import split_path
from gradtool.results.report import Report

FOLDER = ".gradtool_cache"
FILE = "last.json"

FILES = {
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a cache of gradtool: https://bford.info/cachedir/\n",
    ".gitignore": "*\n",
    "README.md": "# gradtool's cache\n\nWhat failed in the last run, for `gradtool check --lf`, "
    "`--ff` and `--replay`.\nIt may be deleted at any time. Do not commit it.\n",
}
"""What the folder has beside the cache, so that backups, git and people know it for one."""


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
        return frozenset(msgspec.json.decode(path.read_bytes(), type=_File).failed)
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
    """What is known to fail after the run of `report`.

    Args:
        before: What was known to fail.
        report: What the run found out.
        failing: The nodes that failed in it.
        is_whole: It asked for every Function of each of its modules.
    """
    asked = {f"{module.path}::{function.name}" for module, function in report.functions()}
    paths = {module.path for module in report.modules}
    gone = {node for node in before if is_whole and split_path(node)[0] in paths}
    return frozenset(before) - asked - gone - paths | frozenset(failing)

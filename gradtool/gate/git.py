"""What git knows: the repository of a folder, and the files that changed since a commit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from gradtool.gate.options import UsageError

_FLAG = "--changed-since"


def repository(folder: Path) -> Path:
    """The top folder of the repository that `folder` is in.

    Raises:
        UsageError: It is in none, or git is not installed.
    """
    code, out, error = _git(folder, "rev-parse", "--show-toplevel")
    if code == 0:
        return Path(out.rstrip("\n")).resolve()
    if "not a git repository" in error:
        raise UsageError(f"{_FLAG}: {folder} is in no git repository")
    raise UsageError(f"{_FLAG}: git cannot read the repository of {folder}: {_said(error)}")


def changed_files(top: Path, ref: str) -> frozenset[Path]:
    """The files that differ from where the work on them left `ref`, also if they are gone.

    That is the last commit that `ref` and the present one have in common, so what others
    did to `ref` meanwhile does not count. Files that git does not track yet do.

    Raises:
        UsageError: The repository has no such commit.
    """
    asked = ("--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    code, out, _ = _git(top, "rev-parse", *asked)
    if code:
        hint = "; a shallow clone lacks it: fetch the whole history" if _is_shallow(top) else ""
        raise UsageError(f"{_FLAG}: {ref!r} is no commit of the repository {top}{hint}")
    commit = out.strip()
    code, out, _ = _git(top, "merge-base", commit, "HEAD")
    base = out.strip() if code == 0 else commit
    differ = _listed(top, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", base, "--")
    untracked = _listed(top, "ls-files", "--others", "--exclude-standard", "-z")
    return frozenset(top / name for name in (*differ, *untracked))


def _listed(top: Path, *arguments: str) -> list[str]:
    code, out, error = _git(top, *arguments)
    if code:
        raise UsageError(f"{_FLAG}: git {arguments[0]} failed: {_said(error)}")
    return [name for name in out.split("\0") if name]


def _is_shallow(top: Path) -> bool:
    return _git(top, "rev-parse", "--is-shallow-repository")[1].strip() == "true"


def _said(error: str) -> str:
    return " ".join(error.split()).removeprefix("fatal: ") or "it does not say why"


_OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")
"""What git sets for its hooks, and what would then be taken for the repository of any folder."""


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}


def _git(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error, which is in English."""
    try:
        ran = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=_environment(),
            check=False,
        )
    except FileNotFoundError:
        raise UsageError(f"{_FLAG} needs git, which is not installed") from None
    except (OSError, ValueError) as error:  # A null byte in a name, or a folder that is gone.
        raise UsageError(f"{_FLAG}: git cannot be run: {error}") from None
    return ran.returncode, os.fsdecode(ran.stdout), os.fsdecode(ran.stderr)

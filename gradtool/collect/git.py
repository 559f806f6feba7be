"""Questions to git: the repository of a folder, changes since a commit, a commit's files."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gradtool.errors import UsageError
from gradtool.sandbox.interrupts import gently_terminated

CHANGED_SINCE = "--changed-since"


def repository(folder: Path, flag: str = CHANGED_SINCE) -> Path:
    """Top folder of the repository that `folder` is in; `flag` is the option that needs it.

    Raises:
        UsageError: It is in no repository, or git is not installed.
    """
    code, out, error = _git(flag, folder, "rev-parse", "--show-toplevel")
    if code == 0:
        # Not strip(): a folder's name may end in a space.
        return Path(out.rstrip("\n")).resolve()
    if "not a git repository" in error:
        raise UsageError(f"{flag}: {folder} is not in a git repository")
    raise UsageError(f"{flag}: git cannot read the repository of {folder}: {_reason(error)}")


def branching_point(top: Path, ref: str, flag: str = CHANGED_SINCE) -> str:
    """The merge base of `ref` and the current commit.

    Changes that others made to `ref` in the meantime do not count.

    Raises:
        UsageError: The repository has no such commit.
    """
    # --end-of-options keeps a reference that begins with a dash from being read as an option.
    options = ("--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    code, out, _ = _git(flag, top, "rev-parse", *options)
    if code:
        hint = (
            ("; it is missing from this shallow clone: fetch the full history")
            if _is_shallow(top)
            else ""
        )
        raise UsageError(f"{flag}: {ref!r} is not a commit of the repository {top}{hint}")
    commit = out.strip()
    code, out, _ = _git(flag, top, "merge-base", commit, "HEAD")
    # Unrelated histories have no merge base, nor have shallow clones.
    return out.strip() if code == 0 else commit


def changed_files(top: Path, ref: str) -> frozenset[Path]:
    """Files that differ from the merge base with `ref`, deleted and untracked ones included.

    Raises:
        UsageError: The repository has no such commit.
    """
    base = branching_point(top, ref)
    # A rename is a deleted and a new file: modules that import either name are affected. -z,
    # because git quotes unusual names otherwise.
    differ = _paths(top, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", base, "--")
    untracked = _paths(top, "ls-files", "--others", "--exclude-standard", "-z")
    return frozenset(top / name for name in (*differ, *untracked))


@contextlib.contextmanager
def checked_out(top: Path, commit: str, flag: str) -> Iterator[Path]:
    """Check a commit out into a temporary folder, which is removed in any case.

    Raises:
        UsageError: Git cannot check it out.
    """
    with gently_terminated(), _temporary() as folder:
        tree = folder / "tree"
        # A post-checkout hook of the user's must not run for a tree that is only read.
        no_hooks = ("-c", f"core.hooksPath={os.devnull}")
        try:
            code, _, error = _git(
                flag, top, *no_hooks, "worktree", "add", "--detach", "--force", str(tree), commit
            )
            if code:
                raise UsageError(f"{flag}: git cannot check out {commit}: {_reason(error)}")
            yield tree
        finally:
            # Forced twice, which removes a locked worktree too: git locks one while it is being
            # added.
            _git(flag, top, "worktree", "remove", "--force", "--force", str(tree))


@contextlib.contextmanager
def _temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gradtool-", ignore_cleanup_errors=True) as folder:
        # Temporary folders may lie behind a link, as /tmp on macOS, and paths are compared with
        # real ones.
        yield Path(folder).resolve()


def _paths(top: Path, *arguments: str) -> list[str]:
    code, out, error = _git(CHANGED_SINCE, top, *arguments)
    if code:
        raise UsageError(f"{CHANGED_SINCE}: git {arguments[0]} failed: {_reason(error)}")
    return [name for name in out.split("\0") if name]


def _is_shallow(top: Path) -> bool:
    return _git(CHANGED_SINCE, top, "rev-parse", "--is-shallow-repository")[1].strip() == "true"


def _reason(error: str) -> str:
    return " ".join(error.split()).removeprefix("fatal: ") or "no reason given"


_HOOK_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")
"""Set by git for its hooks; git would take them for the repository of any folder."""


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES}
    # English messages, which `repository` reads; and no index refresh that would lock out the
    # user's git.
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}


def _git(flag: str, folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Run git; return its exit code, output and errors, which are in English."""
    try:
        ran = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=_environment(),
            check=False,
        )
    except FileNotFoundError:
        raise UsageError(f"{flag} needs git, which is not installed") from None
    except (OSError, ValueError) as error:  # A null byte in a name, or a folder that is gone.
        raise UsageError(f"{flag}: git cannot be run: {error}") from None
    return ran.returncode, os.fsdecode(ran.stdout), os.fsdecode(ran.stderr)

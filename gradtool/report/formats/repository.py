"""Paths from the top of the repository, which services that show findings on code expect."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TOPS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""Variables of CI jobs that name the folder of the checkout: of GitHub Actions, of GitLab."""


def repository_path(path: str) -> str:
    """`path`, with forward slashes, from the top of the repository that it lies in.

    Args:
        path: Relative to the current folder, or absolute.

    Returns:
        The path as it is where no repository contains it.
    """
    full = Path(os.path.realpath(path))
    top = next((each for each in _tops(full) if full.is_relative_to(each)), None)
    return path.replace(os.sep, "/") if top is None else full.relative_to(top).as_posix()


def _tops(full: Path) -> Iterator[Path]:
    """Folders that may be the top: the checkout of a CI job, then the nearest with ``.git``."""
    yield from (Path(os.path.realpath(os.environ[name])) for name in _TOPS if os.environ.get(name))
    # A file in a linked worktree and in a submodule, a folder elsewhere.
    yield from (folder for folder in full.parents if (folder / ".git").exists())

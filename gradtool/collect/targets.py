"""The Python files that the paths of a command line stand for.

A path is ``file.py``, a folder, ``file.py::Function`` or ``file.py::Function[case]``.
A folder is walked in sorted order; what is named explicitly is never left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from gradtool.errors import UsageError
from gradtool.results.paths import real_path, shown_path, split_node_id
from gradtool.spelling import nearest

Excluded = Callable[[Path], bool]
"""Returns True for a path that a walk skips."""


class Target(msgspec.Struct):
    """One file, and the Functions and cases of it to check."""

    path: Path
    shown: str
    """The path as node ids spell it."""
    named: bool
    """The user named the file; it was not found by a walk."""
    functions: dict[str, set[str]] = {}
    """Names of Functions to their cases, an empty set for all."""
    whole: bool = False
    """Every Function of the file is to be checked, whether it is named or not."""

    def add(self, function: str | None, case: str | None) -> None:
        """Add a Function, or every Function when it is None."""
        if function is None:
            self.whole = True
            return
        whole = function in self.functions and not self.functions[function]
        cases = self.functions.setdefault(function, set())
        if case is None or whole:
            cases.clear()
        else:
            cases.add(case)


def find_targets(paths: tuple[str, ...], excluded: Excluded) -> list[Target]:
    """List the files that `paths` stand for, each once, in one order however they are given.

    Raises:
        UsageError: A path does not exist or cannot be a module.
    """
    targets: dict[Path, Target] = {}
    for text in paths:
        if not text:
            raise UsageError("a path is empty: write . for the current folder")
        name, function, case = split_node_id(text)
        for path, named in _files(Path(name), function is not None, excluded):
            known = _require_utf8(real_path(path))
            target = targets.setdefault(known, Target(path, shown_path(path), named))
            target.named |= named
            target.add(function, case)
    return sorted(targets.values(), key=_place)


def _place(target: Target) -> list[tuple[bool, str]]:
    """The key that sorts files as `walk` does: those of a folder before the folders in it."""
    *folders, name = Path(target.shown).parts
    return [*((True, folder) for folder in folders), (False, name)]


def _files(path: Path, one: bool, excluded: Excluded) -> Iterator[tuple[Path, bool]]:
    """Yield the files of one path, each with True if it was named; `one` refuses a folder."""
    if _is_folder(path):
        if one:
            raise UsageError(f"{path} is a folder: name a file before '::'")
        yield from ((found, False) for found in walk(path, excluded))
    elif not path.exists():
        problem = "is a broken symbolic link" if path.is_symlink() else "does not exist"
        raise UsageError(f"{path} {problem}{similar_path(path)}")
    elif path.suffix != ".py":
        raise UsageError(f"{path} is not a Python file: its name must end in .py")
    else:
        yield path, True


def _require_utf8(path: Path) -> Path:
    """Return the path if every report can spell its name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise UsageError(f"{shown}: its name is not UTF-8 text; rename or --exclude it") from None
    return path


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def walk(folder: Path, excluded: Excluded) -> Iterator[Path]:
    """Yield Python files below `folder`, sorted; skip hidden folders, caches, environments."""
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: (entry.is_dir(), entry.name))
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}") from None
    for entry in entries:
        if entry.name.startswith(".") or entry.name == "__pycache__" or excluded(entry):
            continue
        if entry.is_dir():
            if not entry.is_symlink() and not (entry / "pyvenv.cfg").exists():
                yield from walk(entry, excluded)
        elif entry.suffix == ".py":
            yield entry


def similar_path(path: Path) -> str:
    """Suggest the nearest name in the deepest folder of `path` that exists, or nothing."""
    folder = path.parent
    while not folder.is_dir():
        path, folder = folder, folder.parent
    try:
        entries = [entry for entry in folder.iterdir() if entry.is_dir() or entry.suffix == ".py"]
    except OSError:
        return ""
    by_stem = {entry.stem: entry.name for entry in entries if entry != path}
    close = nearest(path.stem, by_stem)
    return f" (did you mean {by_stem[close]!r}?)" if close else ""

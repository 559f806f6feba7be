"""Imports that go on where a statement fails which the Functions of a module may not need.

The statement is replaced by stand-ins for the names that it binds, and the module is imported
again. Guarded imports are untouched: what their ``except`` catches never gets this far.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, TracebackType

import msgspec

from gradtool.collect.import_root import ImportRoot
from gradtool.collect.replacement import replaced, statement_at
from gradtool.results.paths import shown_path
from gradtool.sandbox.user_errors import summarize

_MOST = 300
"""Statements that are replaced before the import is given up."""


class Tolerance(msgspec.Struct):
    """The statements that were replaced while one file was imported."""

    path: Path
    root: ImportRoot
    top: str
    """The outermost package of the file, or its own name."""
    of_all_kinds: bool = False
    """Any statement at the top of the file may be replaced, not only an import."""
    notes: list[str] = msgspec.field(default_factory=list)
    missing: set[str] = msgspec.field(default_factory=set)
    """Dotted names of the modules that were not found."""
    beyond: set[Path] = msgspec.field(default_factory=set)
    """Folders that relative imports start from, above the package that the import knows."""
    first: Exception | None = None
    """What the import raised at first."""

    def run(self, attempt: Callable[[], ModuleType]) -> ModuleType:
        """Import by `attempt`, again each time a failed statement can be replaced.

        What was imported in a failed attempt is kept, which saves time. A module may not stand to
        be executed again, though: what it registers is there. All are then imported anew, once.

        Raises:
            Exception: What the import raised at last.
        """
        before, is_new = frozenset(sys.modules), True
        for _ in range(_MOST):
            try:
                return attempt()
            except Exception as error:
                self.first = self.first or error
                if isinstance(error, ModuleNotFoundError) and error.name:
                    self.missing.add(error.name)
                self.root.forget_orphans(before)
                if self._replace(error):
                    is_new = False
                elif is_new:
                    raise
                else:
                    self.root.forget(before)
                    is_new = True
        return attempt()

    def _replace(self, error: Exception) -> bool:
        """Replace the innermost statement of the user's that failed; False if there is none."""
        for file, line in self._frames(error.__traceback__):
            source = self.root.source_of(file)
            try:
                tree = ast.parse(source)
            except (SyntaxError, ValueError):
                continue
            statement = statement_at(tree, line)
            is_import = isinstance(statement, ast.Import | ast.ImportFrom)
            is_own = self.of_all_kinds and Path(file) == self.path
            if statement is None or not (is_import or is_own) or _is_class(statement):
                continue
            if folder := _beyond(Path(file), error, statement):
                self.beyond.add(folder)
            name, why = _reason(error, statement)
            edited = replaced(source, statement, why, _lacking(error, statement))
            if edited is not None and edited != source:
                self.root.read[file] = _without_package(edited, tree, error, statement, why)
                place = f"{shown_path(Path(file))}:{statement.lineno}"
                self.notes.append(f"{place}: {name} {why}; a stand-in is used instead")
                return True
        return False

    def _frames(self, trace: TracebackType | None) -> Iterator[tuple[str, int]]:
        """Files and lines of the user's own code in a traceback, the innermost first."""
        found = []
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if self._is_own(file):
                found.append((file, trace.tb_lineno))
            trace = trace.tb_next
        # Code of the user's that fails by itself is no matter of what is missing here.
        yield from reversed(found if self.of_all_kinds else found[-1:])

    def _is_own(self, file: str) -> bool:
        place, folder = Path(file), self.root.folder
        if not place.is_relative_to(folder):
            return False
        parts = place.relative_to(folder).parts
        is_installed = folder.name in _INSTALLED or bool(_INSTALLED & set(parts))
        return not is_installed or parts[0] in (self.top, f"{self.top}.py")


def _without_package(
    source: bytes, tree: ast.Module, error: Exception, done: ast.stmt, why: str
) -> bytes:
    """Replace the other imports of a package that is not installed, too, but no guarded ones."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return source
    top = error.name.partition(".")[0]
    for statement in tree.body:
        name = _absolute_name(statement)
        if statement is not done and name is not None and name.partition(".")[0] == top:
            source = replaced(source, statement, why) or source
    return source


def _absolute_name(statement: ast.stmt) -> str | None:
    """The module that an import names, if it names just one and in full."""
    if isinstance(statement, ast.Import) and len(statement.names) == 1:
        return statement.names[0].name
    if isinstance(statement, ast.ImportFrom) and not statement.level:
        return statement.module
    return None


_INSTALLED = frozenset({"site-packages", "dist-packages"})
_CANNOT = re.compile(r"cannot import name '(\w+)'")


def _is_class(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ClassDef)


def _beyond(file: Path, error: Exception, statement: ast.stmt) -> Path | None:
    """The folder that a relative import starts from, if it is there but not known as a package.

    A folder without an ``__init__.py`` separates it from the package of the file.
    """
    if not (isinstance(statement, ast.ImportFrom) and 0 < statement.level < len(file.parts)):
        return None
    if not (isinstance(error, ImportError) and _BEYOND in str(error)):
        return None
    folder = file.parents[statement.level - 1]
    names = [statement.module] if statement.module else [each.name for each in statement.names]
    places = [folder.joinpath(*name.split(".")) for name in names]
    is_there = any(each.is_dir() or each.with_suffix(".py").is_file() for each in places)
    return folder if is_there else None


_BEYOND = "attempted relative import"


def _lacking(error: Exception, statement: ast.stmt) -> str | None:
    """The one name of an import that could not be imported; None if all of it failed."""
    names = getattr(statement, "names", [])
    if isinstance(statement, ast.Import) and isinstance(error, ModuleNotFoundError):
        top = str(error.name).partition(".")[0]
        return next((each.name for each in names if each.name.partition(".")[0] == top), None)
    found = _CANNOT.match(error.msg) if isinstance(error, ImportError) else None
    return found[1] if found and any(alias.name == found[1] for alias in names) else None


def _reason(error: Exception, statement: ast.stmt) -> tuple[str, str]:
    """The name that a statement lacks, and why, as a predicate."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        first = ast.unparse(statement).splitlines()[0]
        return f"`{first[:60]}`", f"raised {summarize(error)}"
    name = (isinstance(statement, ast.Import) and _lacking(error, statement)) or _imported_name(
        statement
    )
    if isinstance(error, ModuleNotFoundError) and error.name:
        is_it = name.partition(".")[0] == error.name.partition(".")[0]
        if is_it or (isinstance(statement, ast.ImportFrom) and statement.level):
            return error.name if is_it else name, "is not installed"
    lacking = _lacking(error, statement)
    if lacking and isinstance(statement, ast.ImportFrom):
        return f"{name}.{lacking}", "cannot be imported"
    return name, f"failed to import ({summarize(error)})"


def _imported_name(statement: ast.Import | ast.ImportFrom) -> str:
    if isinstance(statement, ast.Import):
        return statement.names[0].name
    return "." * statement.level + (statement.module or "")

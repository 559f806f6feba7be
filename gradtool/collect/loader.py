"""Loads a file as Python would: a plain script's module, or a module of its package.

A file inside a package is imported by its dotted name, so relative imports work; the
folder above the outermost package (``src`` in a src layout) is where imports start. A
plain file starts imports in its own folder, as ``python file.py`` does. ``import torch`` is
answered with the bundled engine, unless the user's own PyTorch is asked for.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from gradtool.adapters.engines import BUNDLED, computing_with, engine_imports
from gradtool.collect.import_root import RESERVED, ImportRoot
from gradtool.collect.torch_alias.alias import (
    COMPILED_EXTENSION,
    answer_torch_imports,
    needs_real_torch,
)
from gradtool.results.paths import real_path, shown_path
from gradtool.results.report import Location
from gradtool.sandbox.interrupts import is_interruptible
from gradtool.sandbox.timeout import TimedOut
from gradtool.sandbox.user_errors import UserError, describe


class LoadError(Exception):
    """A module could not be loaded. Its first argument is the one line that says why."""

    def __init__(self, message: str, told: UserError | None = None, hint: str | None = None):
        super().__init__(message)
        self.message = message
        self.told = told
        self.hint = hint


@dataclass(frozen=True)
class LoadedModule:
    """A module of the user's, its source as a tree, and the folder it imports from."""

    path: Path
    module: ModuleType
    tree: ast.Module
    root: ImportRoot
    engine: str

    def active(self) -> AbstractContextManager[None]:
        """While code of the module runs, imports in it find what they found at load."""
        return _imports_of(self.root, self.engine)


class Loader:
    """Loads files; modules that start imports in the same folder share what they import.

    Args:
        engine: What their ``import torch`` gives.
    """

    def __init__(self, engine: str = BUNDLED) -> None:
        self._engine = engine
        self._roots: dict[Path, ImportRoot] = {}

    def load(self, path: Path) -> LoadedModule:
        """Load the file at `path`.

        Raises:
            LoadError: It cannot be read or parsed, or raises when it is imported.
        """
        path = real_path(path)
        tree = parse(path)
        folder, name = dotted_name(path)
        root = self._roots.setdefault(folder, ImportRoot(folder))
        with _imports_of(root, self._engine), engine_imports(self._engine):
            module = _import(path, name, folder)
        return LoadedModule(path, module, tree, root, self._engine)


@contextmanager
def _imports_of(root: ImportRoot, engine: str) -> Iterator[None]:
    """Imports start in `root`, and ``import torch`` gives the engine."""
    answered = answer_torch_imports() if engine == BUNDLED else nullcontext()
    with answered, computing_with(engine), root.active():
        yield


def parse(path: Path) -> ast.Module:
    """The source of `path` as a tree.

    Raises:
        LoadError: The file cannot be read or is not Python.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise LoadError(f"cannot be read: {error.strerror}") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # The import itself gives them.
            return ast.parse(source, filename=str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        told = describe(error, path.parent)
        place = Location(path=shown_path(path), line=getattr(error, "lineno", None))
        told = replace(told, location=place)  # Some errors of the parser name no file.
        raise LoadError(f"is not valid Python: {told.summary}", told) from None


def dotted_name(path: Path) -> tuple[Path, str]:
    """The folder that imports start in, and the name of the module at `path` from there."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def _import(path: Path, name: str, folder: Path) -> ModuleType:
    try:
        module = _import_packaged(name) if "." in name or _is_package(path) else _run(path, name)
    except TimedOut:
        raise
    except KeyboardInterrupt:
        if is_interruptible():
            raise
        raise LoadError("import raised KeyboardInterrupt") from None
    except SystemExit as error:
        told = describe(error, folder)
        raise LoadError(f"import ended the process: {told.summary}", told) from None
    except BaseException as error:
        told = describe(error, folder)
        raise LoadError(f"import raised {told.summary}", told, _hint(error)) from None
    found = getattr(module, "__file__", None)
    if found is None or Path(found).resolve() != path:
        raise LoadError(f"import of {name!r} gives another file, {found}: rename the package")
    return module


def _is_package(path: Path) -> bool:
    return path.name == "__init__.py"


def _import_packaged(name: str) -> ModuleType:
    return importlib.import_module(name)


def _run(path: Path, stem: str) -> ModuleType:
    """Import a plain file under its own name, or another where that one is taken."""
    name = stem if _is_free(stem, path) else f"{stem}_{_digest(path)}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python source")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return sys.modules.get(name, module)


def _is_free(stem: str, path: Path) -> bool:
    if stem in RESERVED or not stem.isidentifier():
        return False
    taken = getattr(sys.modules.get(stem), "__file__", None)
    return stem not in sys.modules or (taken is not None and Path(taken).resolve() == path)


def _digest(path: Path) -> str:
    return hashlib.blake2b(str(path).encode(), digest_size=4).hexdigest()


def _hint(error: BaseException) -> str | None:
    if needs_real_torch(error):
        return COMPILED_EXTENSION
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return f"install what has {package!r} into the environment that gradtool runs in"
    if isinstance(error, ImportError) and "no known parent package" in str(error):
        return "add an __init__.py to its folder, so that the file belongs to a package"
    return None

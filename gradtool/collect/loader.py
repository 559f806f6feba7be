"""Loading a file as Python would: as a script, or as a module of its package.

A file inside a package is imported by its dotted name, so relative imports work; the
folder above the outermost package (``src`` in a src layout) is where imports start. A
plain file starts imports in its own folder, as ``python file.py`` does. ``import torch`` is
answered with the bundled engine, unless the user's own PyTorch is chosen.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import itertools
import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property, lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from gradtool.adapters.engines import BUNDLED, computing_with, engine_imports, join_group_of_one
from gradtool.collect import lazy_package
from gradtool.collect.import_root import RESERVED, ImportRoot
from gradtool.collect.slices import sliced
from gradtool.collect.source_loader import SourceOnlyLoader
from gradtool.collect.tolerance import Tolerance
from gradtool.collect.torch_alias.alias import (
    COMPILED_EXTENSION,
    answer_torch_imports,
    needs_real_torch,
)
from gradtool.regular_file import read_regular
from gradtool.results.paths import real_path, shown_path
from gradtool.results.report import Location
from gradtool.sandbox.interrupts import is_interruptible
from gradtool.sandbox.timeout import TimedOut
from gradtool.sandbox.user_errors import UserError, describe, summarize

if TYPE_CHECKING:
    from gradtool.collect.checkable import Checkable
    from gradtool.collect.inventory import Entry

_DISTRIBUTED = re.compile(
    rb"^\s*(import torch\.distributed|from torch(\.distributed)? import .*dist)|"
    rb"\btorch\.distributed\.\w",
    re.MULTILINE,
)
"""Imports and uses of ``torch.distributed``."""

LARGEST_SOURCE = 16 * 2**20
"""Bytes of a source file beyond which it is not read."""


class LoadError(Exception):
    """A module could not be loaded; `message` is one line of explanation.

    `cause` describes the exception that its import raised, if one did. It `is_of_users` if code of
    the user's own raised it, and not a package or a GPU that is missing here.
    """

    def __init__(
        self,
        message: str,
        cause: UserError | None = None,
        hint: str | None = None,
        *,
        is_of_users: bool = False,
    ) -> None:
        super().__init__(message)
        self.is_of_users = is_of_users
        self.message = message
        self.cause = cause
        self.hint = hint


class LoadedModule(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A module of the user's, its source as a tree, and the folder it imports from."""

    path: Path
    module: ModuleType
    tree: ast.Module
    root: ImportRoot
    engine: str
    digest: str
    """SHA-256 of the source that was parsed and compiled."""
    notes: tuple[str, ...] = ()
    """What could not be imported, where a stand-in takes its place."""
    first_failure: LoadError | None = None
    """What the import of the whole raised first, before there were stand-ins."""
    failure: LoadError | None = None
    """Why only the part of the source that its Functions need was imported."""
    communicates: bool = False
    """The source mentions ``torch.distributed``."""
    checkables: dict[tuple[str, str], Checkable] = {}
    """Those of its entries that were looked at, by the file as shown and the entry's name."""

    @cached_property
    def inventory(self) -> list[Entry]:
        """All Functions of the module. Finding them may run functions that make some."""
        from gradtool.collect.inventory import inventory  # It loads NumPy.

        with self.active():
            return inventory(self.module, self.tree)

    @contextmanager
    def active(self) -> Iterator[None]:
        """While code of the module runs, let its imports find the same modules as at load."""
        if self.communicates:
            join_group_of_one(self.engine)
        with _imports_of(self.root, self.engine):
            if self.communicates:
                from gradtool.collect.process_groups import set_groups  # It loads NumPy.

                set_groups(self.module)
            yield


class Loader:
    """Loads files; modules whose imports start in the same folder share what they import.

    Args:
        engine: Name of the engine that their ``import torch`` gives.
    """

    def __init__(self, engine: str = BUNDLED) -> None:
        self._engine = engine
        self._roots: dict[Path, ImportRoot] = {}
        self._loaded: dict[Path, LoadedModule] = {}

    def load(self, path: Path, *, only_slice: bool = False) -> LoadedModule:
        """Load the file at `path`, once.

        Where an import in it fails, a stand-in takes the place of what it would give. Where the
        file fails otherwise, only the part is imported that its Functions need.

        Args:
            path: The file.
            only_slice: Import that part at once: the whole was found to take too long.

        Raises:
            LoadError: It cannot be read or parsed, or raises when it is imported.
        """
        path = real_path(path)
        if path not in self._loaded:
            self._loaded[path] = self._load(path, only_slice)
        return self._loaded[path]

    def _load(self, path: Path, only_slice: bool) -> LoadedModule:
        source = read_source(path)
        tree = parse_source(source, path)
        folder, name = dotted_name(path)
        failure = LoadError("import took too long")
        if not only_slice:
            root = self._roots.setdefault(folder, ImportRoot(folder))
            try:
                found = self._imported(path, source, tree, root, name)
            except LoadError as error:
                failure = error
            else:
                if found.first_failure is not None and not _may_define(tree):
                    raise found.first_failure
                return found
        packages = _packages_of(path, folder)
        # What takes too long may well be the code of the packages that the file is in.
        tries = (packages,) if only_slice else ((), packages)
        cut = self._import_slice(path, source, tree, folder, name, tries)
        if cut is None or not cut.inventory:
            raise failure
        return structs.replace(cut, digest=digest(source), failure=failure)

    def _import_slice(
        self,
        path: Path,
        source: bytes,
        tree: ast.Module,
        folder: Path,
        name: str,
        tries: Iterable[Iterable[str]],
    ) -> LoadedModule | None:
        """Import a slice, in each try without the code of these files, until one succeeds.

        What leads to a Function is left out if the slice fails with it.
        """
        parts = {sliced(source, tree, with_callers=each): None for each in (True, False)}
        for part, left_out in itertools.product(parts, tries):
            if part is None:
                continue
            # A root of its own: other files must not find modules that are incomplete.
            root = ImportRoot(folder)
            root.read.update(dict.fromkeys(left_out, lazy_package.SOURCE))
            with suppress(LoadError):
                return self._imported(path, part, tree, root, name, of_all_kinds=True)
        return None

    def _imported(
        self,
        path: Path,
        source: bytes,
        tree: ast.Module,
        root: ImportRoot,
        name: str,
        *,
        of_all_kinds: bool = False,
    ) -> LoadedModule:
        """Import a source as the module `name`, or as one of a namespace package that it needs."""
        # What is compiled is what was parsed, even if the file changes in between.
        root.read[str(path)] = source
        tolerance = Tolerance(path, root, name.partition(".")[0], of_all_kinds)
        with _imports_of(root, self._engine), engine_imports(self._engine):
            module = _import(path, name, root, tolerance)
        above = _namespace(path, root.folder, tolerance.missing) or _outermost(
            root.folder, tolerance.beyond
        )
        if above is not None:
            dotted = ".".join(path.relative_to(above).with_suffix("").parts)
            outer = self._roots.setdefault(above, ImportRoot(above))
            name = dotted.removesuffix(".__init__")
            return self._imported(path, source, tree, outer, name, of_all_kinds=of_all_kinds)
        first = _load_error(tolerance.first, root.folder) if tolerance.first else None
        notes = (*tolerance.notes, *_alone(path, source, self._engine))
        # The text shows in a fraction of the time that most sources do not.
        communicates = b"distributed" in source and any(map(_is_distributed, ast.walk(tree)))
        return LoadedModule(
            path,
            module,
            tree,
            root,
            self._engine,
            digest(source),
            notes,
            first,
            communicates=communicates,
        )


def _alone(path: Path, source: bytes, engine: str) -> Iterator[str]:
    """Yield a note on a source that uses ``torch.distributed``: the engine has one process."""
    if engine == BUNDLED and _DISTRIBUTED.search(source):
        place = shown_path(path)
        yield f"{place}: torch.distributed has a single process here; larger groups are not checked"


def _packages_of(path: Path, folder: Path) -> tuple[str, ...]:
    """The ``__init__.py`` of each package that a file is in, but for the file itself."""
    inits = (parent / "__init__.py" for parent in path.parents if parent.is_relative_to(folder))
    return tuple([str(each) for each in inits if each != path and each.is_file()])


def _may_define(tree: ast.Module) -> bool:
    """Return True for a source in which there may be something to check."""
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return any(isinstance(node, kinds) for node in ast.walk(tree))


def _is_distributed(node: ast.AST) -> bool:
    """Return True for ``torch.distributed``, or for an import of it or from it."""
    if isinstance(node, ast.Attribute):
        return node.attr == "distributed"
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    return any(name.startswith("torch.distributed") for name in names)


@contextmanager
def _imports_of(root: ImportRoot, engine: str) -> Iterator[None]:
    """Let imports start in `root`, and ``import torch`` give the engine."""
    answered = answer_torch_imports() if engine == BUNDLED else nullcontext()
    with answered, computing_with(engine), root.active():
        yield


def parse(path: Path) -> ast.Module:
    """Parse the source of `path`.

    Raises:
        LoadError: The file cannot be read or is not Python.
    """
    return parse_source(read_source(path), path)


def read_source(path: Path) -> bytes:
    """The bytes of a source file.

    Raises:
        LoadError: The file cannot be read.
    """
    try:
        return read_regular(path, LARGEST_SOURCE)
    except OSError as error:
        raise LoadError(f"cannot be read: {error.strerror}") from None


def digest(source: bytes) -> str:
    """SHA-256 of a source, as reports name it."""
    return hashlib.sha256(source).hexdigest()


def parse_source(source: bytes, path: Path) -> ast.Module:
    """Parse `source`, which is that of `path`.

    Raises:
        LoadError: It is not Python.
    """
    try:
        return _tree(source, str(path))
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError) as error:
        location = Location(path=shown_path(path), line=getattr(error, "lineno", None))
        # Some errors of the parser name no file.
        cause = structs.replace(describe(error, path.parent), location=location)
        raise LoadError(f"is not valid Python: {cause.summary}", cause) from None


@lru_cache(maxsize=1)
def _tree(source: bytes, file: str) -> ast.Module:
    """Parse a source, once where it is asked for several times in a row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The import repeats them.
        return ast.parse(source, filename=file)


def dotted_name(path: Path) -> tuple[Path, str]:
    """Folder that imports start in, and the dotted name of the module at `path` from there."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def _namespace(path: Path, folder: Path, missing: Iterable[str]) -> Path | None:
    """The folder above a namespace package that holds `path` and a module that is `missing`."""
    parents = [each for each in path.parents if folder.is_relative_to(each)]
    for name in missing:
        for parent in parents:
            place = parent.joinpath(*name.split("."))
            holds = path.is_relative_to(parent / name.partition(".")[0])
            if (
                holds
                and parent != folder
                and (place.is_dir() or place.with_suffix(".py").is_file())
            ):
                return parent
    return None


def _outermost(folder: Path, packages: Iterable[Path]) -> Path | None:
    """The folder above the outermost of these packages, if it lies above `folder`."""
    wholes = [_whole(each) for each in packages]
    roots = (dotted_name(each / "__init__.py")[0] for each in wholes)
    # Without any __init__.py the folder itself has to be a package, but for that of the file.
    above = [each.parent if each in wholes and each != folder else each for each in roots]
    outer = (each for each in above if each != folder and folder.is_relative_to(each))
    return min(outer, key=lambda each: len(each.parts), default=None)


def _whole(package: Path) -> Path:
    """The package around a folder, which may lack an ``__init__.py`` on the way to it."""
    around = itertools.islice((package, *package.parents), _MOST_LEVELS)
    return next((each for each in around if (each / "__init__.py").is_file()), package)


_MOST_LEVELS = 4
"""How far up a package is looked for: a stray ``__init__.py`` further up makes none."""


def _import(path: Path, name: str, root: ImportRoot, tolerance: Tolerance) -> ModuleType:
    folder = root.folder
    is_packaged = "." in name or path.name == "__init__.py"

    def attempt() -> ModuleType:
        return importlib.import_module(name) if is_packaged else _import_file(path, name, root)

    try:
        module = tolerance.run(attempt)
    # The limit's own exception, which the handlers below would take for the user's.
    except TimedOut:
        raise
    except KeyboardInterrupt:
        if is_interruptible():
            raise
        raise LoadError("import raised KeyboardInterrupt") from None
    except SystemExit as error:
        cause = describe(error, folder)
        raise LoadError(f"import ended the process: {cause.summary}", cause) from None
    except BaseException as error:
        raise _load_error(tolerance.first or error, folder) from None
    found = getattr(module, "__file__", None)
    # The name may belong to an installed or standard package, which imports find instead.
    if found is None or Path(found).resolve() != path:
        raise LoadError(f"importing {name!r} loads a different file, {found}: rename the package")
    return module


def _load_error(error: BaseException, folder: Path) -> LoadError:
    cause = describe(error, folder)
    message, is_of_users = f"import raised {cause.summary}", _is_of_users(error, folder)
    return LoadError(message, cause, _hint(error), is_of_users=is_of_users)


def _import_file(path: Path, stem: str, root: ImportRoot) -> ModuleType:
    """Import a plain file under its own name, or under another if that one is taken."""
    name = stem if _is_free(stem, path) else f"{stem}_{_digest(path)}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path, loader=SourceOnlyLoader(name, str(path), root.read))
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python source file")
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


_IS_ELSEWHERE = re.compile(
    r"cuda|gpu|nvidia|triton|rocm|device|driver|install|gradtool's|^(import|from) ", re.IGNORECASE
)
"""In the text of an exception, or the line that raised it: this machine lacks something."""


def _is_of_users(error: BaseException, folder: Path) -> bool:
    """Return True if the user's own line raised this, and not because something is missing."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not Path(frames[-1].filename).is_relative_to(folder):
        return False
    return not any(_IS_ELSEWHERE.search(text) for text in (summarize(error), frames[-1].line or ""))


def _hint(error: BaseException) -> str | None:
    if needs_real_torch(error):
        return COMPILED_EXTENSION
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return (
            f"install the package that provides {package!r} in the environment that runs gradtool"
        )
    if isinstance(error, ImportError) and "no known parent package" in str(error):
        return "add an __init__.py to its folder, so that the file belongs to a package"
    return None

"""Files of a run that a change can affect: since a commit, or of files that were just saved.

The local files that a module imports are read from its source, which is never run. Imports
count wherever they stand: in functions, under conditions, for type checkers only. A name that
could be a module or a value counts as both. Absolute imports start where Python looks for them,
too, such as in ``PYTHONPATH`` or an editable installation. So the answer has too many files rather
than too few; those that code imports by a computed name are known once it has been imported.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gradtool.collect.git import changed_files, repository
from gradtool.collect.loader import LoadError, dotted_name, parse
from gradtool.collect.source_loader import is_local
from gradtool.collect.targets import Target
from gradtool.config.files import Configs
from gradtool.results.paths import real_path


def changed_since(targets: Sequence[Target], ref: str) -> dict[Path, frozenset[Path]]:
    """The files that changed since `ref`, by the repository of `targets` that they are in.

    Raises:
        UsageError: Git has no answer.
    """
    tops = {folder: repository(folder) for folder in {t.path.absolute().parent for t in targets}}
    if not targets:  # A wrong reference is an error all the same.
        tops = {Path.cwd(): repository(Path.cwd())}
    return {top: changed_files(top, ref) for top in sorted(set(tops.values()))}


def affected_by(
    changed: frozenset[Path], targets: Sequence[Target], configs: Configs, tops: Sequence[Path] = ()
) -> list[Target]:
    """Select the `targets` that are among `changed`, or depend on a file that is.

    That may be a file which they import, or the configuration that applies to them.

    Args:
        changed: Files, by their real paths.
        targets: What to select from.
        configs: The configurations, of which each target depends on one.
        tops: Repositories, at whose tops imports may start too.
    """
    imports = LocalImports(tuple(_roots(targets, tops)))
    return [
        target
        for target in targets
        if not changed.isdisjoint(_sources(real_path(target.path), configs, imports))
    ]


def _sources(path: Path, configs: Configs, imports: LocalImports) -> Iterator[Path]:
    """The files that the results of the module at `path` depend on."""
    yield from imports.reached(path)
    config = configs.nearest(path)
    if config.path is not None:
        yield config.path


def _roots(targets: Sequence[Target], tops: Sequence[Path]) -> Iterator[Path]:
    """Folders that local imports may start in: those of the run's modules, and a repository's."""
    yield from dict.fromkeys(dotted_name(real_path(target.path))[0] for target in targets)
    for top in tops:
        yield from (top, top / "src")


class LocalImports:
    """Files that modules reach by their imports; each file is read once.

    Args:
        roots: Folders in which absolute imports may start, in addition to the module's own.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(roots)
        self._direct: dict[Path, frozenset[Path]] = {}
        self._found: dict[str, tuple[Path, ...]] = {}

    def reached(self, path: Path) -> frozenset[Path]:
        """Return `path`, what it imports, what that imports, and so on; some need not exist."""
        seen = {path}
        pending = [path]
        while pending:
            more = self._imported_by(pending.pop()) - seen
            seen |= more
            pending.extend(more)
        return frozenset(seen)

    def _imported_by(self, path: Path) -> frozenset[Path]:
        if path not in self._direct:
            self._direct[path] = frozenset(self._read(path))
        return self._direct[path]

    def _read(self, path: Path) -> Iterator[Path]:
        if not path.is_file():
            return
        folder, name = dotted_name(path)
        yield from _packages_above(path, folder)
        try:
            tree = parse(path)
        except LoadError:
            return
        # Relative imports count from the package itself in its __init__.py.
        own_package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for imported in _names(tree, own_package):
            # Without resolving which one wins: too many candidates only check too much.
            package = imported.partition(".")[0]
            if package not in self._found:
                self._found[package] = _root_of(package)
            for root in dict.fromkeys((folder, *self._roots, *self._found[package])):
                yield from _module_files(root, imported)


def _root_of(package: str) -> tuple[Path, ...]:
    """The folder that this Python would import `package` from, unless libraries are there."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError, AttributeError):  # A finder of somebody's may raise anything.
        return ()
    if spec is None:
        return ()
    origins = [spec.origin] if spec.has_location and spec.origin else []
    places = spec.submodule_search_locations or origins
    roots = {real_path(Path(place)).parent for place in places}
    return tuple(root for root in sorted(roots) if is_local(f"{root}/"))


def _packages_above(path: Path, root: Path) -> Iterator[Path]:
    """Packages imported before the module itself, also one whose ``__init__.py`` was deleted."""
    yield path.parent / "__init__.py"
    for folder in path.parents:
        if folder == root:
            return
        yield folder / "__init__.py"


def _names(tree: ast.Module, package: str) -> Iterator[str]:
    """Dotted names of everything that `tree` imports and that could be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            if base is not None:
                yield from _below(base, (alias.name for alias in node.names))


def _base(node: ast.ImportFrom, package: str) -> str | None:
    """Absolute name of the package imported from; None when the dots lead above the top."""
    if not node.level:
        return node.module
    above = package.split(".") if package else []
    if node.level - 1 > len(above):
        return None
    kept = above[: len(above) - (node.level - 1)]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _below(base: str, names: Iterable[str]) -> Iterator[str]:
    if base:
        yield base
    for name in names:
        if name != "*":
            yield f"{base}.{name}" if base else name


def _module_files(root: Path, name: str) -> Iterator[Path]:
    """Files that the module `name`, and each package above it, would be in."""
    place = root
    for part in name.split("."):
        place = place / part
        yield place.with_name(f"{place.name}.py")
        yield place / "__init__.py"

"""The modules of an installed package that define Functions, found without importing any."""

from __future__ import annotations

import ast
import warnings
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

from gradtool.collect.declared import declared_functions
from gradtool.collect.targets import walk
from gradtool.errors import UsageError

_WORDS = (b"Function", b"custom_op", b"triton_op")
"""One of these is in every source that defines a Function or an operator."""


def modules_of_package(name: str) -> list[Path]:
    """List the files of a package that define Functions, in sorted order.

    Args:
        name: The name that is imported, dotted for a part of a package, or that of its
            distribution, as ``pip`` knows it.

    Raises:
        UsageError: There is no such package, or no Function in it.
    """
    files = [file for place in _places(name) for file in _files(place)]
    sources = {file: _source(file) for file in files}
    trees: dict[Path, ast.Module] = {}
    known: set[str] = set()
    while True:
        # Parsing takes long: only what has one of these words can define a Function.
        words = (*_WORDS, *(each.encode() for each in known))
        wanted = [file for file in files if any(word in sources[file] for word in words)]
        trees.update({file: _tree(sources[file]) for file in wanted if file not in trees})
        found = {file: _names(trees[file], known) for file in wanted}
        names = set().union(*found.values())
        if names <= known:
            break
        # A class may derive from a Function of another file.
        known |= names
    chosen = [file for file in files if found.get(file)]
    if not chosen:
        none = "its only module" if len(files) == 1 else f"none of its {len(files)} modules"
        defines = "defines no" if len(files) == 1 else "defines a"
        raise UsageError(f"--package {name}: {none} {defines} Function")
    return chosen


def _names(tree: ast.Module, known: set[str]) -> set[str]:
    """The names of the Functions and operators of a file, given Functions of others."""
    found = declared_functions(tree, lambda base: base.rpartition(".")[2] in known)
    found += declared_functions(tree)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.alias)]
    named = {node.attr if isinstance(node, ast.Attribute) else node.name for node in nodes}
    makers = named & _MAKERS if named & _WITH_A_GRADIENT else set()
    return {each.name.rpartition(".")[2] for each in found} | makers


_MAKERS = frozenset({"custom_op", "triton_op"})

_WITH_A_GRADIENT = frozenset({"register_autograd"})
"""What gives an operator a gradient; without it, there is nothing to check."""


def _source(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _tree(source: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else list(walk(place, lambda _: False))


def _places(name: str) -> list[Path]:
    """The folders or files of a package."""
    first, *rest = name.split(".")
    spec = PathFinder.find_spec(first)
    if spec is None:
        return _places_of_distribution(name)
    if not rest and spec.origin and Path(spec.origin).name != "__init__.py":
        return [Path(spec.origin)]
    folders = [Path(each).joinpath(*rest) for each in spec.submodule_search_locations or ()]
    found = [place for folder in folders for place in (folder, folder.with_suffix(".py"))]
    found = [place for place in found if place.exists()]
    if not found:
        raise UsageError(f"--package {name}: {first} has no module {'.'.join(rest)}")
    return found


def _places_of_distribution(name: str) -> list[Path]:
    try:
        files = metadata.files(name)
    except (metadata.PackageNotFoundError, ValueError):
        raise UsageError(f"--package {name}: no such package is installed") from None
    return [Path(str(each.locate())) for each in files or () if each.suffix == ".py"]

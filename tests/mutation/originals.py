"""The right Functions that are mutated: those of ``samples`` and of the right half of the zoo."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gradtool.cases.sources import ResolvedCase, resolve_cases
from gradtool.collect.checkable import Checkable
from gradtool.collect.discovery import definition, discover
from gradtool.collect.loader import LoadedModule, Loader
from gradtool.config.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("samples", "tests/zoo/right")
WRONG_ON_PURPOSE = "wrong"

GRADIENT = ("backward", "vjp")
"""The methods that compute gradients."""

METHODS = (*GRADIENT, "jvp", "forward", "setup_context")


@dataclass(frozen=True)
class Original:
    """One right Function with its cases and its source."""

    path: str
    """As seen from the root of the repository."""
    checkable: Checkable
    loaded: LoadedModule
    seed: int

    @property
    def id(self) -> str:
        """``samples/exp.py::Exp``."""
        return f"{self.path}::{self.checkable.name}"

    @property
    def target(self) -> Any:
        """The Function itself."""
        return self.checkable.obj

    @cached_property
    def cases(self) -> list[ResolvedCase]:
        with self.active():
            return resolve_cases(self.checkable, Settings(seed=self.seed))

    @property
    def namespace(self) -> dict[str, Any]:
        """The names of its module."""
        return vars(self.loaded.module)

    def active(self) -> AbstractContextManager[None]:
        """In this context its code can run."""
        return self.loaded.active()

    @cached_property
    def source(self) -> ast.Module:
        """The class, and after it what only its gradient methods use of the module."""
        tree = self.loaded.tree
        node = definition(tree, self.target)
        assert isinstance(node, ast.ClassDef)
        return copy.deepcopy(ast.Module([node, *_helpers(tree, node)], type_ignores=[]))


def originals(seed: int = 0) -> Iterator[Original]:
    """All of them, in the order of their files; `seed` is that of their cases."""
    loader = Loader()
    for file in _files():
        loaded = loader.load(file)
        path = file.relative_to(ROOT).as_posix()
        for checkable in discover(loaded, path):
            yield Original(path, checkable, loaded, seed)


def _files() -> Iterator[Path]:
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if WRONG_ON_PURPOSE not in file.relative_to(ROOT / folder).parts:
                yield file


def methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """The methods of a class by their names."""
    return {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}


def _helpers(tree: ast.Module, node: ast.ClassDef) -> list[ast.stmt]:
    """Functions and private classes of the module that only gradient methods use."""
    known = {
        each.name: each
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
        or (isinstance(each, ast.ClassDef) and each.name.startswith("_"))
    }
    own = methods(node)
    used = _used([own[name] for name in GRADIENT if name in own], known)
    others = [each for name, each in own.items() if name not in GRADIENT]
    return [known[name] for name in known if name in used - _used(others, known)]


def _used(nodes: list[Any], known: dict[str, Any]) -> set[str]:
    """Which of the `known` names are used, by `nodes` or by what these use."""
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        for each in ast.walk(waiting.pop()):
            if isinstance(each, ast.Name) and each.id in known and each.id not in found:
                found.add(each.id)
                waiting.append(known[each.id])
    return found

"""Arguments that other code passes to a Function: in its module, and in the files beside it.

``Cls.apply(x, scale, "mean")`` in a test, an example, a wrapper or an ``nn.Module`` is the best
evidence there is. An argument counts where it can be evaluated by itself (see `evaluation`).
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gradtool.adapters.common.parsed_source import forward_of, parsed
from gradtool.adapters.library import library
from gradtool.cases.inference.calls.examples import examples
from gradtool.cases.inference.evaluation import MISSING, Place, Scope, assigned, outside, value_at

_MOST_FILES = 60
"""Files beside the module that are read."""

_MOST_BYTES = 200_000
"""Size of a file beyond which it is not read."""


class Site(msgspec.Struct, frozen=True):
    """A call to a Function, with those of its arguments that could be evaluated."""

    values: Mapping[str, Any]
    """By parameter."""
    where: str
    """Such as ``line 40`` or ``test_ops.py:12``."""


def call_sites(function: Any, tree: ast.Module, names: tuple[str, ...]) -> list[Site]:
    """The calls to `function`, those with most arguments that could be evaluated first.

    Of calls with equally many, those of its own module come first.
    """
    forward = inspect.unwrap(forward_of(function))
    namespace: Mapping[str, Any] = getattr(forward, "__globals__", {})
    name = function.__qualname__
    trees = (tree, *examples(tree, f"{name}.apply"))
    own = [site for each in trees for site in _sites(name, each, names, namespace, "")]
    if not any(len(site.values) == len(names) for site in own):
        own += _beside(function, Path(inspect.getsourcefile(forward) or ""), names)
    return sorted(own, key=lambda site: -len(site.values))


def module_source(function: Any) -> tuple[ast.Module | None, str]:
    """The tree, which nobody may change, and the text of a Function's module; None without."""
    forward = inspect.unwrap(forward_of(function))
    try:
        text = "".join(linecache.getlines(inspect.getsourcefile(forward) or ""))
        return (parsed(text), text) if text else (None, "")
    except (TypeError, SyntaxError, ValueError):
        return None, ""


def _beside(function: Any, file: Path, names: tuple[str, ...]) -> Iterator[Site]:
    """Yield calls in the files of the folder and in its tests, which are not imported."""
    name = function.__qualname__
    for path in _neighbours(file):
        try:
            text = path.read_text(encoding="utf-8")
            if f"{name}.apply" not in text or not _imports(text, name, file.stem):
                continue
            tree = ast.parse(text)
        except (OSError, SyntaxError, ValueError):
            continue
        yield from _sites(name, tree, names, outside(), f"{path.name}:")


def _neighbours(file: Path) -> Iterator[Path]:
    folder = file.parent
    folders = [folder, folder / "tests", folder.parent / "tests", folder.parent / "test"]
    found = sorted(
        path for each in folders if each.is_dir() for path in each.glob("*.py") if path != file
    )
    for path in found[:_MOST_FILES]:
        if path.is_file() and path.stat().st_size <= _MOST_BYTES:  # A pipe would be waited for.
            yield path


def _imports(text: str, name: str, module: str) -> bool:
    """Return True for a file that takes the Function from its module, and not one of its name."""
    imported = rf"from\s+[\w.]*\b{re.escape(module)}\s+import\s+[^#]*?\b{re.escape(name)}\b"
    return bool(re.search(imported, text, re.DOTALL) or f"{module}.{name}" in text)


def _sites(
    name: str, tree: ast.Module, names: tuple[str, ...], namespace: Mapping[str, Any], prefix: str
) -> Iterator[Site]:
    for place in _places(tree, name, namespace):
        values = dict(_arguments(place, names))
        if values:
            where = f"{prefix}{place.call.lineno}" if prefix else f"line {place.call.lineno}"
            yield Site(values, where)


def _places(tree: ast.Module, name: str, namespace: Mapping[str, Any]) -> Iterator[Place]:
    """Yield the calls to ``NAME.apply``, and to what it is assigned to."""
    aliases = {
        target.id
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Assign) and _is_apply(statement.value, {name})
        for target in statement.targets
        if isinstance(target, ast.Name)
    }

    made: dict[type[Any], Any] = {}

    def walk(
        node: ast.AST, scope: Scope, owner: ast.ClassDef | None, held: frozenset[str]
    ) -> Iterator[Place]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                own = _call_of(child, scope, {name}, aliases)
                call = own or _call_of(child, scope, held, set())
                if call:
                    yield Place(call, tree, scope, owner, namespace, own is None, made)
            inner = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else scope
            around = child if isinstance(child, ast.ClassDef) else owner
            is_new = inner is not scope or around is not owner
            yield from walk(
                child, inner, around, held.union(_holders(child, name)) if is_new else held
            )

    yield from walk(tree, tree, None, frozenset())


def _holders(body: ast.AST, name: str) -> Iterator[str]:
    """Yield what is assigned the Function itself, as in ``self.op = Fast if small else Exact``."""
    for statement in ast.walk(body):
        if isinstance(statement, ast.Assign) and name in options(statement.value):
            yield from map(ast.unparse, statement.targets)


def options(value: ast.expr) -> Iterator[str]:
    """Yield the names that a value may be."""
    match value:
        case ast.IfExp(body=one, orelse=other):
            yield from options(one)
            yield from options(other)
        case ast.Name(id=name):
            yield name


def _call_of(
    call: ast.Call, scope: Scope, names: Collection[str], aliases: set[str]
) -> ast.Call | None:
    """The call to the Function that this call is, or that its ``gradcheck`` makes."""
    if _is_called(call.func, names, aliases):
        return call
    is_check = len(call.args) > 1 and "gradcheck" in ast.unparse(call.func)
    if not is_check or not _is_called(call.args[0], names, aliases):
        return None
    given: ast.expr | None = call.args[1]
    if isinstance(given, ast.Name):
        given = assigned(given.id, scope, call.lineno)
    args = given.elts if isinstance(given, ast.Tuple | ast.List) else [call.args[1]]
    return ast.copy_location(ast.Call(call.args[0], args, []), call)


def _is_called(node: ast.expr, names: Collection[str], aliases: set[str]) -> bool:
    return _is_apply(node, names) or (isinstance(node, ast.Name) and node.id in aliases)


def _is_apply(node: ast.expr, names: Collection[str]) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != "apply":
        return False
    owner = ast.unparse(node.value)
    return owner in names or any(owner.endswith(f".{name}") for name in names)


def _arguments(place: Place, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, node in zip(names, place.call.args, strict=False):
        if isinstance(node, ast.Starred):
            return
        value = value_at(place, node)
        # A layer with another of several Functions may have tensors of other shapes.
        is_of_other = place.is_held and isinstance(value, library().Tensor)
        if value is not MISSING and not is_of_other:
            yield name, value

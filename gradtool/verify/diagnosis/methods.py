"""The source of a Function's methods as syntax trees."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Collection, Iterator
from functools import lru_cache

from gradtool.verify.protocol.observation import SourceLine


def method_trees(
    lines: Collection[SourceLine], methods: Collection[str]
) -> Iterator[ast.FunctionDef]:
    """The definitions that hold these lines, for those of the `methods` that have a source."""
    for method in methods:
        own = [line for line in lines if line.method == method]
        for path in sorted({line.path for line in own}):
            tree = module_tree(path)
            found = tree and _outermost(tree, method, {line.line for line in own})
            if found:
                yield found


def takes_softplus(lines: Collection[SourceLine]) -> bool:
    """Return True for a forward that calls ``softplus``, which has a limit of its own."""
    trees = method_trees(lines, ("forward", "setup_context"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    return any(isinstance(node, ast.Attribute) and node.attr == "softplus" for node in nodes)


def module_tree(path: str) -> ast.Module | None:
    """The syntax tree of a module; None where its source cannot be had."""
    return _parsed("".join(linecache.getlines(path)))


@lru_cache(maxsize=8)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _outermost(tree: ast.Module, name: str, lines: Collection[int]) -> ast.FunctionDef | None:
    """The definition of that name which holds all these lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            last = node.end_lineno or node.lineno
            if all(node.lineno <= line <= last for line in lines):
                return node
    return None


def computes_gradients(lines: Collection[SourceLine]) -> bool:
    """Return True if some return of backward has more than None in it, or cannot be read."""
    trees = list(method_trees(lines, ("backward", "vjp")))
    if not trees:
        return any(line.method in ("backward", "vjp") for line in lines)
    return any(not _is_nothing(each.value) for tree in trees for each in _returns(tree))


def returned(tree: ast.FunctionDef) -> Iterator[list[ast.expr]]:
    """Yield the gradients of each return that has more than None in it."""
    for node in _returns(tree):
        if not _is_nothing(node.value) and node.value is not None:
            yield node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]


def _returns(tree: ast.FunctionDef) -> Iterator[ast.Return]:
    """The returns of a function, without those of functions inside."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _is_nothing(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Tuple):
        return all(map(_is_nothing, value.elts))
    return value is None or (isinstance(value, ast.Constant) and value.value is None)

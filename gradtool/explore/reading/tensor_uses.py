"""Uses of an argument that only a tensor allows, though no case passes one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gradtool.adapters.common.parsed_source import forward_of
from gradtool.collect.checkable import Checkable
from gradtool.explore.reading.names import is_state
from gradtool.explore.reading.source import forward_nodes, trees
from gradtool.explore.reading.wording import wording

_LISTS = {"cat", "concat", "concatenate", "stack", "hstack", "vstack"}


def is_used_as_tensor(checkable: Checkable, name: str) -> bool:
    """Return True if the source or a docstring shows that an argument may be a tensor."""
    function, said = checkable.obj, wording(checkable.obj)
    if is_state(name) or said.states_shape_of(name) or said.is_scalar_tensor(name):
        return True
    parameters = {p.name: p for p in checkable.parameters()}
    annotation = parameters[name].annotation if name in parameters else ""
    if "Tensor" in str(annotation):
        return True
    return any(name in _tensors(tree) for tree in trees(forward_of(function)))


def is_used_as_mask(function: Any, name: str) -> bool:
    """Return True if forward fills where an argument is true, or negates it by ``~``."""
    for node in forward_nodes(function):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="masked_fill" | "masked_fill_"),
                args=[ast.Name(id=mask), *_],
            ) if mask == name:
                return True
            case ast.UnaryOp(
                op=ast.Invert(), operand=ast.Name(id=mask) | ast.Subscript(value=ast.Name(id=mask))
            ) if mask == name:
                return True
    return False


def _tensors(tree: ast.AST) -> Iterator[str]:
    """Names of what is saved, joined with other tensors, or asked for a tensor's attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="save_for_backward"), args=args):
                yield from (each.id for each in args if isinstance(each, ast.Name))
            case ast.Call(
                func=ast.Attribute(attr=joins), args=[ast.List() | ast.Tuple() as parts, *_]
            ):
                if joins in _LISTS:
                    yield from (each.id for each in parts.elts if isinstance(each, ast.Name))
            case ast.Attribute(
                value=ast.Name(id=name), attr="shape" | "dtype" | "ndim" | "T" | "mT"
            ):
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                if method not in _OF_OTHERS:
                    yield name


_OF_OTHERS = frozenset(dir(str)) | frozenset(dir(dict)) | frozenset(dir(list))
"""Methods that other objects have, too."""

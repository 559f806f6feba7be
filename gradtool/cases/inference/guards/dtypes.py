"""Dtypes that conditions ask for: ``z.is_complex()``, ``index.dtype == torch.int64``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, get_args

from gradtool.adapters.library import library
from gradtool.cases.inference.drafts import shape_of
from gradtool.cases.inference.guards.conditions import Condition, is_library
from gradtool.cases.inference.guards.known import Known
from gradtool.config.tensor_spec import DType

_WHETHER = {
    ("is_complex", True): "complex128",
    ("is_complex", False): "float64",
    ("is_floating_point", True): "float64",
    ("is_floating_point", False): "int64",
}
"""Dtypes that the answer to a question has."""

_INTEGERS = {"low": 0, "high": 2}
"""The range of integers of which nothing is known: valid indices nearly everywhere."""


def dtype_changes(condition: Condition, known: Known) -> Iterator[tuple[str, str]]:
    """Yield arguments with the dtypes with which they meet a condition."""
    if condition.operator is None:
        asked = _question(condition.left)
        if asked and (name := known.argument(asked[0])):
            dtype = _WHETHER.get((asked[1], condition.holds))
            if dtype is not None:
                yield name, dtype
        return
    for each in (condition, condition.mirrored()):
        match each:
            case Condition(left=ast.Attribute(value=ast.Name(id=held), attr="dtype")):
                name, dtype = known.argument(held), _dtype(each, known)
                if name and dtype:
                    yield name, dtype


def _question(node: ast.expr) -> tuple[str, str] | None:
    """The name and the question of ``x.is_complex()``, and of its other spellings."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=asked), args=[ast.Name(id=name)]) if (
            is_library(owner)
        ):
            return name, asked
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=asked), args=[]):
            return name, asked
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id=name), attr="dtype"), attr=asked):
            return name, asked
    return None


def _dtype(condition: Condition, known: Known) -> str | None:
    """The name of the dtype on the right side, or of the first of several."""
    if condition.right is None or condition.operator not in {ast.Eq, ast.Is, ast.In}:
        return None
    value = known.value(condition.right)
    if condition.operator is ast.In and isinstance(value, tuple | list | set) and value:
        value = next(iter(value))
    if not isinstance(value, library().torch.dtype):
        return None
    name = str(value).rpartition(".")[2]
    return name if name in get_args(DType) else None


def with_dtype(spec: dict[str, Any], dtype: str) -> dict[str, Any]:
    """The tensor of a draft with another dtype, with values that this one holds."""
    rest = {key: each for key, each in spec.items() if key == "requires_grad"}
    range_ = {key: each for key, each in spec.items() if key in {"low", "high"}}
    shape = {"shape": shape_of(spec)}
    if dtype.startswith("float"):
        return {**shape, **range_, **rest, **({} if dtype == "float64" else {"dtype": dtype})}
    if dtype.startswith("complex"):
        return {**shape, **rest, "dtype": dtype}
    return {**shape, "dtype": dtype, **({} if dtype == "bool" else _INTEGERS)}

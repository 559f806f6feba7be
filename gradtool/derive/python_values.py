"""Python values that forward passes around, as a recording sees them."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import sys
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from gradtool.adapters.library import library

PLAIN = (int, float, complex, bool, str, type(None))
"""Types of values whose text is that of `repr`."""


def operand_nodes(node: ast.AST) -> list[Any]:
    """Return the expressions that an operator or a comparison is applied to."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, node.comparators[0]]
    assert isinstance(node, ast.UnaryOp)
    return [node.operand]


def may_vary(value: Any) -> bool:
    """Return True for values that can have a derivative, not for integers and masks."""
    if isinstance(value, tuple | list):
        return any(map(may_vary, value))
    dtype = getattr(value, "dtype", None)
    return dtype is None or dtype.is_floating_point or dtype.is_complex


def is_constant(node: Any) -> bool:
    """Return True for a number, a string or the like that is written out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant)


def own_function(function: Any) -> FunctionType | None:
    """A function of the user's, which is recorded as well."""
    if not isinstance(function, FunctionType):
        return None
    module = function.__module__ or ""
    packages = (
        *library().packages,
        "numpy",
        "math",
        "gradtool",
        "functools",
        "itertools",
        "contextlib",
    )
    if any(module == each or module.startswith(each + ".") for each in packages):
        return None
    if inspect.isgeneratorfunction(function):
        return None
    path = function.__code__.co_filename
    return None if "site-packages" in path or path.startswith(sys.base_prefix) else function


def is_plain(function: Any) -> bool:
    """Return True for functions that Python has without an import, and those of `math`."""
    return (
        getattr(function, "__module__", None) in {"builtins", "math"}
        or function in vars(builtins).values()
    )


def shown(function: Any) -> str:
    """Return the name of a function as a message has it."""
    return str(getattr(function, "__qualname__", None) or type(function).__name__)


def tensors(value: Any, kind: type[Any]) -> list[Any]:
    """Return the tensors in a value and in the collections that it consists of."""
    if isinstance(value, kind):
        return [value]
    if isinstance(value, tuple | list):
        return [each for part in value for each in tensors(part, kind)]
    if isinstance(value, Mapping):
        return [each for part in value.values() for each in tensors(part, kind)]
    return []


def plain_text(value: Any, torch_name: str) -> str | None:
    """The text of a plain value; None if it has none that Python reads."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if type(value) in PLAIN:
        return repr(value)
    if isinstance(value, tuple | list):
        parts = [plain_text(each, torch_name) for each in value]
        if any(each is None for each in parts):
            return None
        inside = ", ".join(str(each) for each in parts)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(parts) == 1)})"
    if type(value).__name__ == "dtype":
        return f"{torch_name}.{str(value).rpartition('.')[2]}"
    return None

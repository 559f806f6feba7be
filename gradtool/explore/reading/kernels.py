"""Docstrings of kernels: functions that forward passes its arguments on to."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gradtool.adapters.common.parsed_source import docstring_of, forward_of, walked
from gradtool.cases.inference.helpers import called, definition


def documentation_of_kernels(function: Any) -> str:
    """The docstrings of kernels, with the names of forward for their parameters."""
    forward = inspect.unwrap(forward_of(function))
    _, node = definition(forward)
    if not isinstance(node, ast.FunctionDef):
        return ""
    own = [each.arg for each in node.args.args]
    return "\n".join(_documentations(node, own, _visible(forward)))


def _documentations(node: ast.AST, own: list[str], visible: Mapping[str, Any]) -> Iterator[str]:
    for call in walked(node):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        given = [each.id for each in call.args if isinstance(each, ast.Name) and each.id in own]
        kernel = called(ast.unparse(call.func), visible) if len(given) == len(call.args) else None
        if kernel is not None:
            names = dict(zip(inspect.signature(kernel).parameters, given, strict=False))
            yield _renamed(docstring_of(kernel), names)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)


def _visible(function: Any) -> Mapping[str, Any]:
    """The globals of a function, and the variables of the functions around it."""
    try:
        return {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    except (AttributeError, TypeError, ValueError):
        return {}

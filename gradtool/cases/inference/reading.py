"""`Reading`: all that the source of a Function says about its arguments."""

from __future__ import annotations

import ast
import copy
import inspect
import re
import textwrap
from collections.abc import Mapping, Sequence
from types import CellType
from typing import Any

import msgspec

from gradtool.adapters.common.parsed_source import forward_of, walked
from gradtool.cases.inference.balls import curvatures
from gradtool.cases.inference.calls.call_sites import Site, call_sites, module_source
from gradtool.cases.inference.candidates import Parameters
from gradtool.cases.inference.clues import Clues
from gradtool.cases.inference.helpers import helpers_of
from gradtool.cases.inference.roles import is_callable
from gradtool.cases.inference.shapes.facts import ShapeFacts
from gradtool.cases.inference.shapes.operands import read_operands
from gradtool.cases.inference.shapes.reading import read_shapes
from gradtool.cases.inference.uses import Use, merge_helpers, merge_kept, read_uses

_DIFFERENTIATES = re.compile(r"enable_grad|autograd\.grad|\.backward\(|\bvjp\b|\.grad\b")


class Reading(msgspec.Struct, frozen=True):
    """All that was read about the parameters of a Function."""

    parameters: Parameters
    clues: Clues
    shapes: ShapeFacts
    uses: Mapping[str, Use]
    namespace: Mapping[str, Any]
    """The globals of forward, and the variables of the functions around it."""
    sites: Sequence[Site]
    """Calls of it, in its module and in the files beside that."""
    differentiates: bool
    """The Function differentiates what it is given by autograd."""
    constructs: bool = False
    """Some of the parameters are those of a constructor."""
    text: str = ""
    """The source of the class, or the docstrings of a caller."""
    module: ast.Module | None = None
    """The tree of the file that defines it, if its guards count."""


def read(function: Any, parameters: Parameters, clues: Clues) -> Reading | None:
    """Read what a Function class says about `parameters`; None without source."""
    module, module_text = module_source(function)
    unwrapped = inspect.unwrap(forward_of(function))
    cls = _class_around(module, unwrapped) or _made(module, function) if module else None
    if module is None or cls is None:
        return None
    forward = next(each for each in cls.body if getattr(each, "name", None) == "forward")
    parts = [cls] if hasattr(cls, "lineno") else cls.body
    sources = (ast.get_source_segment(module_text, each, padded=True) or "" for each in parts)
    text = "\n".join(map(textwrap.dedent, sources))
    names = tuple(parameter.name for parameter in parameters)
    uses = read_uses(forward, names, text)
    namespace = {**getattr(unwrapped, "__globals__", {}), **_enclosed(unwrapped)}
    helpers = helpers_of(forward, cls, module, module_text, namespace)
    merge_helpers(uses, forward, helpers)
    methods = [each for each in cls.body if isinstance(each, ast.FunctionDef)]
    merge_kept(uses, (each for each in methods if each.name == "backward"))
    shapes = read_shapes(forward, names, text, helpers)
    read_operands(shapes, forward, methods)
    for parameter in parameters:
        uses[parameter.name].is_called |= is_callable(parameter)
    for name, use in uses.items():
        use.is_called |= name in clues.uses.called
        use.is_count |= name in clues.uses.counts
        use.is_tested |= name in clues.uses.tested
        use.is_unused &= name not in clues.uses.anything
        use.attributes |= clues.uses.attributes.get(name, frozenset())
        use.methods |= clues.uses.methods.get(name, frozenset())
    for name in curvatures(f"{namespace.get('__name__')} {text}", names):
        uses[name].is_scalar = True
    return Reading(
        parameters=parameters,
        clues=clues,
        shapes=shapes,
        uses=uses,
        namespace=namespace,
        sites=call_sites(function, module, names),
        differentiates=bool(_DIFFERENTIATES.search(text)),
        text=text,
        module=module,
    )


def _enclosed(forward: Any) -> dict[str, Any]:
    """The variables of the functions around ``forward``, such as the kernels of a factory."""
    names = getattr(getattr(forward, "__code__", None), "co_freevars", ())
    cells = dict(zip(names, getattr(forward, "__closure__", None) or (), strict=False))
    return {name: cell.cell_contents for name, cell in cells.items() if _is_filled(cell)}


def _is_filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True


def _class_around(tree: ast.Module, forward: Any) -> ast.ClassDef | None:
    """The class that defines this ``forward``."""
    line = getattr(getattr(forward, "__code__", None), "co_firstlineno", None)
    for found in ast.walk(tree):
        if isinstance(found, ast.ClassDef):
            for each in found.body:
                if isinstance(each, ast.FunctionDef) and each.name == "forward":
                    first = min([each.lineno, *(d.lineno for d in each.decorator_list)])
                    if first == line:
                        return found
    return None


def _made(tree: ast.Module, function: Any) -> ast.ClassDef | None:
    """A class with the functions that were given to ``type(...)`` as methods."""
    body: list[ast.stmt] = []
    for name in ("forward", "setup_context", "backward"):
        method = getattr(function, name, None)
        code = getattr(inspect.unwrap(method), "__code__", None) if method else None
        line = getattr(code, "co_firstlineno", None)
        for found in walked(tree):
            if isinstance(found, ast.FunctionDef) and found.lineno == line:
                body.append(renamed := copy.copy(found))
                renamed.name = name
    if not any(getattr(each, "name", None) == "forward" for each in body):
        return None
    return ast.ClassDef(function.__name__, bases=[], keywords=[], body=body, decorator_list=[])

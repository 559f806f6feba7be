"""Wrong functions and arguments; reductions, transposes and other calls that are missing."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tests.mutation.operators._operator import (
    Operator,
    adjacent_swapped,
    binary,
    method_call,
    with_fields,
    without,
)
from tests.mutation.places import Place, Scope

SIBLINGS: dict[str, tuple[str, ...]] = {
    "sin": ("cos", "sinh"),
    "cos": ("sin", "cosh"),
    "sinh": ("cosh",),
    "cosh": ("sinh",),
    "tanh": ("sigmoid", "tan"),
    "sigmoid": ("tanh",),
    "exp": ("expm1", "exp2"),
    "log": ("log1p", "log2"),
    "sqrt": ("rsqrt",),
    "rsqrt": ("sqrt", "reciprocal"),
    "abs": ("sign",),
    "sign": ("abs",),
    "erf": ("erfc",),
    "min": ("max",),
    "max": ("min",),
    "clamp": ("relu",),
    "maximum": ("minimum",),
    "minimum": ("maximum",),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "zeros_like": ("ones_like",),
    "ones_like": ("zeros_like",),
    "sum": ("mean", "amax"),
    "mean": ("sum",),
    "norm": ("sum",),
    "cumsum": ("cumprod", "flip"),
    "flip": ("cumsum",),
    "softmax": ("log_softmax",),
    "inv": ("pinv", "det"),
    "solve": ("matmul",),
    "outer": ("dot",),
    "mm": ("mul",),
    "real": ("imag",),
    "imag": ("real",),
    "scatter": ("gather", "scatter_add"),
    "scatter_add": ("scatter",),
    "index_add": ("index_copy",),
    "index_add_": ("index_copy_",),
    "cat": ("stack",),
    "stack": ("cat",),
    "conj": ("neg",),
    "dim": ("numel",),
    "numel": ("dim",),
}
"""Functions that are taken for one another."""

REDUCTIONS = frozenset({"sum", "mean", "sum_to_size", "amax", "max", "norm", "reduced"})
TRANSPOSES = frozenset({"t", "transpose", "permute", "conj", "flip", "swapaxes", "movedim", "mT"})
_SHAPED = frozenset({"T", "mT", "H", "mH", "real", "imag"})


def _called(node: ast.Call) -> str:
    """The last name of what is called."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _renamed(function: ast.expr, name: str) -> ast.expr:
    if isinstance(function, ast.Attribute):
        return ast.Attribute(function.value, name, function.ctx)
    return ast.Name(name, ast.Load())


def _is_method(function: ast.expr, scope: Scope) -> bool:
    """Whether it is a method of a value rather than a function of a module."""
    if not isinstance(function, ast.Attribute):
        return False
    root: ast.expr = function.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return not isinstance(root, ast.Name) or root.id in scope.variables


def _is_of_context(function: ast.expr, scope: Scope) -> bool:
    return isinstance(function, ast.Attribute) and scope.is_context(function.value)


def sibling(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Call):
        for other in SIBLINGS.get(_called(node), ()):
            yield with_fields(node, func=_renamed(node.func, other))
    elif isinstance(node, ast.Attribute) and node.attr in {"real", "imag"}:
        yield from (with_fields(node, attr=other) for other in SIBLINGS[node.attr])


def arguments_swapped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.args):
        yield from (with_fields(node, args=args) for args in adjacent_swapped(node.args))


def argument_dropped(place: Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Call):
        for at in range(len(node.args)):
            yield with_fields(node, args=without(node.args, at))
        for at in range(len(node.keywords)):
            yield with_fields(node, keywords=without(node.keywords, at))


def _dropped(belongs: Callable[[str], bool]) -> Operator:
    def dropped(place: Place) -> Iterator[ast.AST]:
        node, scope = place.node, place.scope
        if _is_shaped(place) and isinstance(node, ast.Attribute) and belongs(node.attr):
            yield node.value
        if not isinstance(node, ast.Call) or _is_of_context(node.func, scope):
            return
        if not belongs(_called(node)):
            return
        if isinstance(node.func, ast.Attribute) and _is_method(node.func, scope):
            yield node.func.value
        elif node.args and not isinstance(node.args[0], ast.Starred):
            yield node.args[0]

    return dropped


def _is_shaped(place: Place) -> bool:
    """Whether it is an attribute that is a tensor, and no method that is called."""
    called = isinstance(place.parent, ast.Call) and place.field == "func"
    return isinstance(place.node, ast.Attribute) and place.node.attr in _SHAPED and not called


def _is_other(name: str) -> bool:
    return name not in REDUCTIONS and name not in TRANSPOSES and name not in _SHAPED


def transpose_added(place: Place) -> Iterator[ast.AST]:
    node, parent = place.node, place.parent
    of_product = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.MatMult)
    of_call = isinstance(parent, ast.Call) and _called(parent) in {"mm", "matmul", "outer"}
    is_operand = of_product or (of_call and place.field == "args")
    if is_operand and isinstance(node, ast.Name):
        yield method_call(node, "t")


def bound_off_by_one(place: Place) -> Iterator[ast.AST]:
    node, parent = place.node, place.parent
    of_range = isinstance(parent, ast.Call) and _called(parent) in {"range", "arange"}
    if not of_range or place.field != "args" or isinstance(node, ast.Constant):
        return
    if isinstance(node, ast.expr):
        yield binary(node, ast.Add(), ast.Constant(1))
        yield binary(node, ast.Sub(), ast.Constant(1))


OPERATORS: dict[str, Operator] = {
    "function replaced by a sibling": sibling,
    "arguments swapped": arguments_swapped,
    "argument dropped": argument_dropped,
    "reduction dropped": _dropped(lambda name: name in REDUCTIONS),
    "transpose or conjugate dropped": _dropped(lambda name: name in TRANSPOSES | _SHAPED),
    "other call dropped": _dropped(_is_other),
    "transpose added": transpose_added,
    "bound off by one": bound_off_by_one,
}

"""Rewriting of a Python function so that a tracer sees each of its operations.

Every call, operator, subscript and attribute asks the tracer, which computes the same result.
Each request carries the number of its place in the source, as it was before it was rewritten.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

from gradtool.derive.source import saving_statements

TRACER = "__tracer__"

_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.USub: "neg",
    ast.Invert: "bitwise_not",
}


def definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """The definition of a function, with the lines of its file.

    Raises:
        OSError: The source is not there.
    """
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    (found,) = tree.body
    if not isinstance(found, ast.FunctionDef):
        raise OSError("not a plain function")
    return found


def instrumented(function: FunctionType, tracer: Any, sites: list[ast.AST]) -> FunctionType:
    """The same function, whose operations ask `tracer`; their places are added to `sites`.

    Raises:
        OSError: The source is not there.
    """
    tree = definition(function)
    tree.decorator_list = []
    tree.args.defaults = []
    tree.args.kw_defaults = [None] * len(tree.args.kwonlyargs)
    tree.returns = None
    _drop_saving(tree)
    _Rewriting(sites).rewrite(tree)
    names = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        names[name] = cell.cell_contents
    names[TRACER] = tracer
    module = ast.fix_missing_locations(ast.Module([tree], []))
    exec(compile(module, function.__code__.co_filename, "exec"), names)
    made: FunctionType = names[tree.name]
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made


def _drop_saving(tree: ast.FunctionDef) -> None:
    """Leave out what only saves values for backward, if it is a method that takes ctx."""
    if tree.args.args:
        for block, statement in saving_statements(tree, tree.args.args[0].arg):
            block.remove(statement)
            if not block:
                block.append(ast.Pass())


class _Rewriting(ast.NodeTransformer):
    """Puts a request to the tracer in the place of each operation."""

    def __init__(self, sites: list[ast.AST]) -> None:
        self._sites = sites

    def rewrite(self, tree: ast.FunctionDef) -> None:
        """Rewrite the body of a function."""
        tree.body = self._block(tree.body)
        for argument in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs):
            argument.annotation = None

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            found += made if isinstance(made, list) else [made]
        return found

    def _ask(self, node: ast.AST, request: str, *args: Any, keywords: Any = ()) -> ast.Call:
        self._sites.append(copy.deepcopy(node))
        number = ast.Constant(len(self._sites) - 1)
        asked = ast.Attribute(ast.Name(TRACER, ast.Load()), request, ast.Load())
        call = ast.Call(asked, [number, *args], list(keywords))
        return ast.copy_location(call, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.body = self._block(node.body)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id in {"super", "locals"}:
            return node
        whole = copy.deepcopy(node)
        args = [self.visit(each) for each in node.args]
        keywords = [ast.keyword(each.arg, self.visit(each.value)) for each in node.keywords]
        if isinstance(node.func, ast.Attribute):
            owner, name = self.visit(node.func.value), ast.Constant(node.func.attr)
            return self._ask(whole, "method", owner, name, *args, keywords=keywords)
        return self._ask(whole, "call", self.visit(node.func), *args, keywords=keywords)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        return self._operator(node, node.op, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            node.operand = self._ask(node, "truth", self.visit(node.operand))
            return node
        return self._operator(node, node.op, node.operand)

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) == 1 and type(node.ops[0]) in _BINARY:
            return self._operator(node, node.ops[0], node.left, node.comparators[0])
        return self.generic_visit(node)

    def _operator(self, node: ast.expr, kind: ast.AST, *operands: ast.expr) -> Any:
        if type(kind) not in _BINARY:
            return self.generic_visit(node)
        whole = copy.deepcopy(node)
        name = ast.Constant(_BINARY[type(kind)])
        return self._ask(whole, "operator", name, *map(self.visit, operands))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        whole = copy.deepcopy(node)
        value, index = self.visit(node.value), self._index(node.slice)
        if isinstance(node.ctx, ast.Load):
            return self._ask(whole, "item", value, index)
        return node

    def _index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self._index(each) for each in node.elts], ast.Load())
        if isinstance(node, ast.Slice):
            ends = [each and self.visit(each) for each in (node.lower, node.upper, node.step)]
            filled = [ast.Constant(None) if each is None else each for each in ends]
            return ast.Call(ast.Name("slice", ast.Load()), filled, [])
        return self.visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        whole = copy.deepcopy(node)
        owner = self.visit(node.value)
        if not isinstance(node.ctx, ast.Load):
            return ast.Attribute(owner, node.attr, node.ctx)
        return self._ask(whole, "attribute", owner, ast.Constant(node.attr))

    def visit_If(self, node: ast.If) -> Any:
        node.test = self._ask(node.test, "truth", self.visit(node.test))
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> Any:
        node.test = self._ask(node.test, "truth", self.visit(node.test))
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        test = self._ask(node.test, "truth", self.visit(node.test))
        return ast.IfExp(test, self.visit(node.body), self.visit(node.orelse))

    def visit_For(self, node: ast.For) -> Any:
        node.iter = self._ask(copy.deepcopy(node), "loop", self.visit(node.iter))
        bound = [self._bind(name, None) for name in _names(node.target)]
        node.body, node.orelse = [*bound, *self._block(node.body)], self._block(node.orelse)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        node.iter = self._ask(node.iter, "iterate", self.visit(node.iter))
        node.ifs = [self._ask(each, "truth", self.visit(each)) for each in node.ifs]
        return node

    def visit_With(self, node: ast.With) -> Any:
        for item in node.items:
            item.context_expr = self.visit(item.context_expr)
        node.body = self._block(node.body)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        statement, whole = copy.deepcopy(node), copy.deepcopy(node.value)
        value = self.visit(node.value)
        (target, *others) = node.targets
        if not others and isinstance(target, ast.Subscript):
            owner, index = self.visit(target.value), self._index(target.slice)
            return ast.Expr(self._ask(statement, "store", owner, index, value))
        if any(isinstance(each, ast.Tuple | ast.List) for each in node.targets):
            value = self._ask(whole, "iterate", value)
        node.value = value
        node.targets = [self._target(each) for each in node.targets]
        names = [name for each in node.targets for name in _names(each)]
        alone = isinstance(target, ast.Name)
        return [node, *[self._bind(name, whole if alone else None) for name in names]]

    def _target(self, target: ast.expr) -> Any:
        return target if isinstance(target, ast.Name | ast.Tuple | ast.List) else self.visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        whole = copy.deepcopy(node)
        name, value = ast.Constant(_BINARY[type(node.op)]), self.visit(node.value)
        if isinstance(node.target, ast.Name):
            before = ast.Name(node.target.id, ast.Load())
            changed = self._ask(whole, "augmented", name, before, value)
            return [
                ast.Assign([node.target], changed, lineno=node.lineno),
                self._bind(node.target.id, None),
            ]
        if isinstance(node.target, ast.Subscript):
            owner, index = self.visit(node.target.value), self._index(node.target.slice)
            return ast.Expr(self._ask(whole, "augmented_item", name, owner, index, value))
        node.value = value
        return node

    def _bind(self, name: str, value: ast.expr | None) -> ast.stmt:
        asked = self._ask(
            value or ast.Constant(None), "bind", ast.Constant(name), ast.Name(name, ast.Load())
        )
        asked.args.append(ast.Constant(value is not None))
        return ast.Expr(asked)


def _names(target: ast.expr) -> list[str]:
    return [
        each.id
        for each in ast.walk(target)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]

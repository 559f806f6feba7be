"""Edits of a forward that common mistakes in a backward come down to.

An edit either changes what forward computes, or keeps its values and changes only their derivative:
`STANDINS` is the name under which altered code finds what does that.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from operator import is_
from typing import Any, TypeVar

import msgspec

from gradtool.adapters.common.alterations.standins import BY_OUTPUT, HELD_FACTORS
from gradtool.verify.protocol.observation import AlterationKind
from gradtool.verify.thresholds.edits import EDITS_DEEPEST_PART, EDITS_MOST_SWAPPED

STANDINS = "__gradtool_standins__"

_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt,
    ast.Lt: ast.Gt,
    ast.GtE: ast.LtE,
    ast.LtE: ast.GtE,
}
_NAMES = [
    ("sum", "mean"),
    ("sin", "cos"),
    ("sinh", "cosh"),
    ("tanh", "sigmoid"),
    ("sqrt", "rsqrt"),
    ("sqrt", "square"),
    ("log", "log2"),
    ("log", "log10"),
    ("log", "log1p"),
    ("exp", "exp2"),
    ("exp", "expm1"),
    ("amax", "logsumexp"),
    ("softmax", "log_softmax"),
    ("std", "var"),
    ("relu", "abs"),
    ("minimum", "maximum"),
    ("amin", "amax"),
    ("cumsum", "cumprod"),
    ("asin", "acos"),
    ("asinh", "acosh"),
    ("atan", "atanh"),
    ("erf", "erfc"),
]
_Tree = TypeVar("_Tree", bound=ast.AST)

_EXPRESSIONS = ast.BinOp | ast.UnaryOp | ast.Call | ast.Name | ast.Subscript | ast.Attribute


class Edit(msgspec.Struct, frozen=True):
    """A node of a function's tree, and what stands in its place."""

    kind: AlterationKind
    node: ast.AST
    """The node that is replaced; a loop has its body extended."""
    made: ast.AST
    shown: ast.AST
    """The expression of forward that a reader sees altered."""
    other: str
    """What stands in its place, in words or code."""


def edits(
    tree: ast.FunctionDef, final: Sequence[str], numbers: Sequence[str] = ()
) -> Iterator[Edit]:
    """Yield the edits of a function, the ones that are said most plainly first.

    Args:
        tree: Its definition.
        final: Its tensor variables, whose last values are known.
        numbers: Its variables that are numbers.
    """
    values = list(_values(tree))
    yield from _branches(tree)
    yield from _loops(tree)
    for value in values:
        yield from _exchanged(value)
    for value in values:
        yield from _unscaled(value)
    for value in values:
        yield from _parts(value, keep=True)
    for value in values:
        yield from _parts(value, keep=False)
    for value in values:
        yield from _changes(value)
    for value in values:
        yield from _passed(value)
        yield from _swapped(value)
        yield from _factor_for_another(value)
        yield from _counted_for_another(value)
        yield from _taken_elsewhere(value, final)
        yield from _taken_with_another(value, final)
    yield from _taken_after(tree)
    yield from _saved_for_another(tree, final)
    for value in values:
        yield from _scaled(value, (*final, *numbers))


def standin(name: str, *args: ast.expr) -> ast.Call:
    """Return a call to one of the `Standins`."""
    called = ast.Attribute(ast.Name(STANDINS, ast.Load()), name, ast.Load())
    return ast.Call(called, list(args), [])


def _values(tree: ast.FunctionDef) -> Iterator[ast.expr]:
    """The expressions that statements compute, but for those that only save for backward."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="ctx"))]):
                pass
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                yield from _elements(value)
            case ast.AugAssign(value=value) | ast.Return(value=ast.expr() as value):
                yield from _elements(value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner)), args=args)):
                # Such as ``states.append(h)``.
                yield from () if owner == "ctx" else args


def _elements(value: ast.expr) -> Sequence[ast.expr]:
    return value.elts if isinstance(value, ast.Tuple) else [value]


# ---- control flow -----------------------------------------------------------------------------


def _branches(tree: ast.FunctionDef) -> Iterator[Edit]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp):
            negated = ast.UnaryOp(ast.Not(), node.test)
            yield Edit("branch", node.test, negated, node.test, "")


def _loops(tree: ast.FunctionDef) -> Iterator[Edit]:
    """Hold constant what a turn takes over from the one before, some turns before the end."""
    for number, node in enumerate(n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While)):
        carried = sorted(_assigned(node) & _read(node))
        for turns in (1, 2, 3) if carried else ():
            test = standin("is_turn", ast.Constant(number), ast.Constant(turns))
            names = [
                ast.Assign([ast.Name(each, ast.Store())], standin("constant", _load(each)))
                for each in carried
            ]
            made = copy.copy(node)
            made.body = [ast.If(test, list[ast.stmt](names), []), *node.body]
            yield Edit("turns", node, made, node, str(turns))


def _assigned(loop: ast.For | ast.While) -> set[str]:
    named = (n for each in loop.body for n in ast.walk(each) if isinstance(n, ast.Name))
    return {name.id for name in named if isinstance(name.ctx, ast.Store)}


def _read(loop: ast.For | ast.While) -> set[str]:
    named = (n for each in loop.body for n in ast.walk(each) if isinstance(n, ast.Name))
    return {name.id for name in named if isinstance(name.ctx, ast.Load)}


# ---- one expression in the place of another ----------------------------------------------------


def _parts(value: ast.expr, *, keep: bool) -> Iterator[Edit]:
    """A part of an expression stands for all of it."""
    for node in _inside(value):
        for part in below(node, EDITS_DEEPEST_PART):
            made = standin("kept", part, node) if keep else part
            yield Edit("kept" if keep else "other", node, made, node, ast.unparse(part))
        if keep:
            yield from _without_a_term(node)
        if keep and (opened := _opened(node)) is not None:
            yield from opened
        if not keep and isinstance(node, ast.Subscript):
            made = standin("first", node.value, node)
            yield Edit("first", node, made, node, ast.unparse(node.value))


def _without_a_term(node: ast.expr) -> Iterator[Edit]:
    """The derivative of an operation is taken without a term of its operand, such as an eps."""
    for operand in _operands(node):
        if isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.Add | ast.Sub):
            made = standin("kept", replaced(node, {operand: operand.left}), node)
            yield Edit("kept", node, made, operand, ast.unparse(operand.left))


def _changes(value: ast.expr) -> Iterator[Edit]:
    """An operator, a number, a name or an orientation is another one."""
    for shown in _inside(value):
        for node, made in _changed(shown):
            other = replaced(shown, {node: made})
            text = ast.unparse(_without_zero(other))
            # The derivative of all of the statement is another one, or of this operation alone.
            for kept in dict.fromkeys((value, shown)):
                held = standin("kept", replaced(kept, {node: made}), kept)
                yield Edit("kept", kept, held, shown, text)
            yield Edit("other", node, made, shown, text)


def _without_zero(node: ast.expr) -> ast.expr:
    """An expression as a person writes it: without a 0 that is added or subtracted."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant(value=0)):
            return left
        case ast.BinOp(left=ast.Constant(value=0), op=ast.Add(), right=right):
            return right
    return node


def _changed(shown: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The nodes of one operation that may be changed, and to what."""
    match shown:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return  # A number, which is changed as an operand.
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            if ast.dump(left) != ast.dump(right):  # Nobody divides anything by itself.
                yield shown, ast.BinOp(left, _OPERATORS[type(op)](), right)
        case ast.Call(func=ast.Attribute(value=owner, attr=name) as function):
            for pair in _NAMES:
                if name in pair:
                    other = pair[1 - pair.index(name)]
                    yield function, ast.Attribute(owner, other, ast.Load())
            if name in {"std", "var"} and not _says_correction(shown):
                biased = [*shown.keywords, ast.keyword("correction", ast.Constant(0))]
                yield shown, ast.Call(function, shown.args, biased)
    for operand in _operands(shown):
        match operand:
            case ast.Constant(value=bool() as flag):
                yield operand, ast.Constant(not flag)
            case ast.Tuple(elts=[*several]) if all(isinstance(n, ast.Constant) for n in several):
                yield from ((operand, one) for one in several)
            case (
                ast.Constant(value=int() | float() as value)
                | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value))
            ):
                number = float(value) if isinstance(value, float) else int(value)
                number = -number if isinstance(operand, ast.UnaryOp) else number
                others = [each for each in _other_numbers(number) if each or not _scales(shown)]
                yield from ((operand, _number(each)) for each in others)
            case ast.Compare(ops=[comparison]) if type(comparison) in _COMPARISONS:
                turned = _COMPARISONS[type(comparison)]()
                yield operand, ast.Compare(operand.left, [turned], operand.comparators)
            case ast.Name() | ast.Call() | ast.Subscript() | ast.BinOp():
                for called, args in _ORIENTATIONS:
                    yield operand, _method(operand, called, *args)


def _says_correction(call: ast.Call) -> bool:
    return any(each.arg in {"correction", "unbiased"} for each in call.keywords)


_ORIENTATIONS: Sequence[tuple[str, tuple[int, ...]]] = (
    ("transpose", (-1, -2)),
    ("flip", (0,)),
    ("flip", (-1,)),
    ("conj", ()),
)


def _scales(node: ast.expr) -> bool:
    """Return True for an operation that leaves nothing of its operands if a number in it is 0."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.Pow)


def _other_numbers(number: float) -> list[float]:
    found = dict.fromkeys((0, 1, -1, 2, -number, number - 1, number + 1))
    return [each for each in found if each != number]


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (left, right)
        case ast.UnaryOp(operand=ast.expr() as operand):
            yield operand
        case ast.Call(func=function, args=args, keywords=keywords):
            if isinstance(function, ast.Attribute):
                yield function.value
            yield from args
            yield from (each.value for each in keywords)


def _counted_for_another(value: ast.expr) -> Iterator[Edit]:
    """One use of a variable is counted twice, and another use of it not at all."""
    sizes = [n.value for n in ast.walk(value) if isinstance(n, ast.Attribute) and n.attr == "shape"]
    names = [n for n in _inside(value) if isinstance(n, ast.Name) and n not in sizes]
    for first in names:
        for second in names:
            if first is not second and first.id == second.id:
                twice, never = standin("doubled", first), standin("constant", second)
                made = replaced(value, {first: twice, second: never})
                yield Edit("twice", value, made, value, first.id)


def _unscaled(value: ast.expr) -> Iterator[Edit]:
    """The gradient passes to a factor of a product as if there were no other."""
    for node in _inside(value):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for bare, other in ((node.left, node.right), (node.right, node.left)):
                made = standin("unscaled", bare, other)
                yield Edit("unscaled", node, made, node, ast.unparse(bare))


def _passed(value: ast.expr) -> Iterator[Edit]:
    """The gradient passes a call with another sign, or by another formula."""
    for node in _inside(value):
        if isinstance(node, ast.Call):
            yield from _solved_untransposed(node)
            yield from _weighed_over_another_dim(node)
            yield Edit("other", node, ast.UnaryOp(ast.USub(), node), node, f"-{ast.unparse(node)}")
            yield from _of_an_operand(node)


def _exchanged(value: ast.expr) -> Iterator[Edit]:
    """The two branches of a condition on each entry are in each other's place."""
    for node in _inside(value):
        match node:
            case ast.Call(func=ast.Attribute(attr="where") as function, args=[test, one, other]):
                made = ast.Call(function, [test, other, one], [])
                yield Edit("exchanged", node, standin("kept", made, node), test, "")


def _solved_untransposed(node: ast.Call) -> Iterator[Edit]:
    match node:
        case ast.Call(func=ast.Attribute(attr="solve"), args=[matrix, right], keywords=[]):
            made = standin("solved_untransposed", matrix, right, node)
            yield Edit("transposed", node, made, node, "")


def _of_an_operand(node: ast.Call) -> Iterator[Edit]:
    name = ast.unparse(node.func).rpartition(".")[-1]
    for operand in _operands(node):
        if isinstance(operand, _EXPRESSIONS):
            text = ast.unparse(operand)
            if name in BY_OUTPUT:
                made = standin("by_input", ast.Constant(name), operand, node)
                yield Edit("by_input", node, made, node, text)
            if name not in _PIECEWISE:
                turned = ast.UnaryOp(ast.USub(), standin("constant", operand))
                there = replaced(node, {operand: standin("moved", operand, turned)})
                other = f"`-{text}` instead of `{text}`"
                yield Edit("at", node, standin("kept", there, node), node, other)
            again = ast.Lambda(_one_argument(), replaced(node, {operand: _load(_OPERAND)}))
            yield Edit("transposed", node, standin("transposed", again, operand), node, text)


_PIECEWISE = frozenset({"abs", "clamp", "clip", "hardtanh", "relu", "sign", "threshold"})
"""Functions made of straight pieces, of which a derivative elsewhere is a mask."""

_OPERAND = "operand_"


def _one_argument() -> ast.arguments:
    return ast.arguments([], [ast.arg(_OPERAND)], None, [], [], None, [])


def _swapped(value: ast.expr) -> Iterator[Edit]:
    """Two numbers or two variables of an expression are in each other's place."""
    leaves = [n for n in ast.walk(value) if isinstance(n, ast.Constant)]
    names = [n for n in _inside(value) if isinstance(n, ast.Name)]
    for alike in (leaves[:EDITS_MOST_SWAPPED], names[:EDITS_MOST_SWAPPED]):
        for first, second in itertools.combinations(alike, 2):
            if ast.dump(first) != ast.dump(second):
                made = replaced(value, {first: second, second: first})
                yield Edit("swapped", value, made, value, ast.unparse(made))


def _factor_for_another(value: ast.expr) -> Iterator[Edit]:
    """A factor of an expression stands in the place of another one, such as ``1 - b`` of ``b``."""
    products = [
        n for n in _inside(value) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)
    ]
    factors = [each for product in products for each in (product.left, product.right)]
    for node, other in itertools.permutations(factors[:EDITS_MOST_SWAPPED], 2):
        if ast.dump(node) != ast.dump(other) and node not in ast.walk(other):
            made = replaced(value, {node: other})
            yield Edit("kept", value, standin("kept", made, value), value, ast.unparse(made))


def _taken_elsewhere(value: ast.expr, final: Sequence[str]) -> Iterator[Edit]:
    """A derivative is taken at the value of another variable."""
    pairs = [(node, operand) for node in _inside(value) for operand in _operands(node)]
    deeper = [(value, node) for node in _inside(value) if (value, node) not in pairs]
    for node, operand in (*pairs, *deeper):
        if isinstance(operand, _EXPRESSIONS) and operand is not node:
            for name in final:
                moved = standin("at", operand, ast.Constant(name))
                made = standin("kept", replaced(node, {operand: moved}), node)
                text = ast.unparse(operand)
                there = f"`{name}` instead of `{text}`"
                later = f"the last value of `{name}`"
                yield Edit("at", node, made, node, later if name == text else there)


def _taken_with_another(value: ast.expr, final: Sequence[str]) -> Iterator[Edit]:
    """A derivative by one operand has another variable in the place of the other operand."""
    for node in _inside(value):
        if not isinstance(node, ast.BinOp) or isinstance(node.op, ast.Add | ast.Sub):
            continue
        for by, operand in ((node.left, node.right), (node.right, node.left)):
            if not isinstance(by, _EXPRESSIONS) or not isinstance(operand, _EXPRESSIONS):
                continue
            text = ast.unparse(operand)
            for name in (each for each in final if each != text):
                there = standin("moved", standin("constant", operand), _last(name))
                first = replaced(node, {operand: there})
                second = replaced(node, {by: standin("constant", by)})
                made = standin("kept", ast.BinOp(first, ast.Add(), second), node)
                other = f"`{ast.unparse(by)}`, using `{name}` instead of `{text}`"
                yield Edit("by", node, made, node, other)


def _saved_for_another(tree: ast.FunctionDef, final: Sequence[str]) -> Iterator[Edit]:
    """All that comes after a variable has another one in its place, as if that had been saved."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        value, name = node.value, node.targets[0]
        for other in (each for each in final if each != name.id):
            for passed in (value, *_by_input(value)):
                made = standin("moved", passed, _last(other))
                yield Edit("saved", value, made, name, other)


def _by_input(value: ast.expr) -> Iterator[ast.expr]:
    """A call whose formula in terms of the output has the input in it."""
    if isinstance(value, ast.Call):
        for edit in _of_an_operand(value):
            if edit.kind == "by_input" and isinstance(edit.made, ast.expr):
                yield edit.made


def _last(name: str) -> ast.Call:
    return standin("last", ast.Constant(name))


def _taken_after(tree: ast.FunctionDef) -> Iterator[Edit]:
    """A derivative is taken at the value that a variable has after the statement."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        name, value = node.targets[0].id, node.value
        for used in _inside(value):
            if isinstance(used, ast.Name) and used.id == name:
                moved = replaced(value, {used: standin("moved", used, value)})
                made = standin("kept", moved, value)
                yield Edit("at", value, made, value, f"the new `{name}`, not at the old one")


def _scaled(value: ast.expr, final: Sequence[str]) -> Iterator[Edit]:
    """The derivative is multiplied or divided by a variable, or by a part of the expression."""
    for name in final:
        yield from _times_and_over(value, _last(name), name)
    for node in _inside(value):
        for part in below(node, 1):
            yield from _times_and_over(node, part, ast.unparse(part))


def _times_and_over(node: ast.expr, factor: ast.expr, text: str) -> Iterator[Edit]:
    yield Edit("times", node, standin("times", node, factor), node, text)
    yield Edit("over", node, standin("over", node, factor), node, text)


def _opened(node: ast.expr) -> Iterator[Edit] | None:
    """An operation of several steps, of which one is held constant."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="softmax" | "log_softmax" as name)):
            # ``x.softmax(-1)``, or ``torch.softmax(x, -1)`` and its like.
            method = not (isinstance(owner, ast.Name) and owner.id in {"torch", "F", "functional"})
            given = [owner, *node.args] if method else node.args
            if not given:
                return None
            dims = [*given[1:], *(k.value for k in node.keywords if k.arg == "dim")]
            return _held_apart(node, name, given[0], dims[0]) if dims else None
        case ast.Call(func=ast.Attribute(attr=name), args=[x, *_]) if name in HELD_FACTORS:
            made = standin("over_constant_factor", x, node)
            return iter([Edit("held", node, made, node, HELD_FACTORS[name])])
    return None


def _weighed_over_another_dim(node: ast.Call) -> Iterator[Edit]:
    """The weights of a sum of exponentials are normalized over another of its dims."""
    match node:
        case ast.Call(func=ast.Attribute(attr="logsumexp"), args=[x, dim, *_]):
            for other in (0, 1, -1):
                if ast.unparse(dim) != str(other):
                    made = standin("weighted_over", x, dim, _number(other), node)
                    yield Edit("weighed", node, made, node, str(other))


_SHARES_OF_THE_SUM: Mapping[AlterationKind, int] = {"held": 0, "negated": -1}
"""What the part of a derivative that goes through a sum is multiplied by."""


def _held_apart(node: ast.expr, name: str, x: ast.expr, dim: ast.expr) -> Iterator[Edit]:
    part = "the sum" if name == "softmax" else "the log of the sum"
    for kind, times in _SHARES_OF_THE_SUM.items():
        yield Edit(kind, node, standin(f"{name}_over", x, dim, ast.Constant(times)), node, part)
    if name == "softmax":
        return
    made = standin("constant_over_sum", x, dim)
    yield Edit("held", node, made, node, f"`{ast.unparse(x)}` outside the sum")


# ---- trees ------------------------------------------------------------------------------------


def _inside(value: ast.expr) -> Iterator[ast.expr]:
    """The expressions in another one, itself first, without names of functions."""
    if isinstance(value, _EXPRESSIONS):
        yield value
    for child in _children(value):
        yield from _inside(child)


def _children(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(value=owner), args=args, keywords=keywords):
            yield from (owner, *args, *(each.value for each in keywords))
        case ast.Call(args=args, keywords=keywords):
            yield from (*args, *(each.value for each in keywords))
        case ast.Lambda():
            pass
        case _:
            yield from (n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))


def below(node: ast.expr, depth: int) -> Iterator[ast.expr]:
    """The expressions inside another one, down to a number of levels."""
    for child in _children(node) if depth else ():
        if isinstance(child, _EXPRESSIONS):
            yield child
        yield from below(child, depth - 1)


def parsed(code: str) -> ast.expr:
    """The expression that is written so."""
    return ast.parse(code, mode="eval").body


def replaced(tree: _Tree, made: Mapping[ast.AST, ast.AST]) -> _Tree:
    """Return a tree with some of its nodes replaced; those above none of them are shared."""
    found: _Tree = _replaced(tree, made)
    return found


def _replaced(node: ast.AST, made: Mapping[ast.AST, ast.AST]) -> Any:
    if node in made:
        return made[node]
    other = None
    for field in node._fields:
        value = getattr(node, field, None)
        new = _replaced_within(value, made)
        if new is not value:
            other = other or copy.copy(node)
            setattr(other, field, new)
    return other or node


def _replaced_within(value: object, made: Mapping[ast.AST, ast.AST]) -> object:
    if isinstance(value, list):
        found = [_replaced_within(each, made) for each in value]
        return value if all(map(is_, found, value)) else found
    return _replaced(value, made) if isinstance(value, ast.AST) else value


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _number(value: float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _method(owner: ast.expr, name: str, *args: int) -> ast.Call:
    called = ast.Attribute(owner, name, ast.Load())
    return ast.Call(called, [_number(each) for each in args], [])

"""Edits of a backward that undo a common mistake, one expression at a time."""

from __future__ import annotations

import ast
import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from gradtool.adapters.common.alterations.edits import parsed
from gradtool.adapters.common.alterations.grafts import Noted, factor_grafts, grafts
from gradtool.adapters.common.alterations.held import Held, variables
from gradtool.adapters.common.alterations.moved_factors import moved_factors
from gradtool.adapters.common.alterations.noted_values import Value
from gradtool.adapters.common.alterations.omissions import (
    Edit,
    accumulations,
    conditions,
    parts,
    slices,
    statements,
)
from gradtool.adapters.common.alterations.orientations import (
    of_an_index,
    orientations,
    without_gaps,
)
from gradtool.adapters.common.alterations.reductions import (
    kept_dims,
    masked_means,
    summed_factors,
    unbiased_means,
)
from gradtool.adapters.common.alterations.shifts import shifted, unwrapped
from gradtool.adapters.common.alterations.swapped_functions import swapped_functions
from gradtool.adapters.common.alterations.weighed_ends import weighed_ends
from gradtool.verify.thresholds.edits import MULTIPLES_DIFFERENCE, MULTIPLES_MOST

_TRANSPOSES = {"T": "H", "mT": "mH", "H": "T", "mH": "mT"}
"""Each transpose with the one that conjugates, or does not."""

_METHODS = [
    ("sum", "mean"),
    ("amax", "amin"),
    ("maximum", "minimum"),
    ("sin", "cos"),
    ("sinh", "cosh"),
    ("log", "log1p"),
    ("exp", "expm1"),
    ("sqrt", "rsqrt"),
    ("erf", "erfc"),
    ("floor", "ceil"),
]
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}


class Surroundings(msgspec.Struct, frozen=True):
    """Knowledge of a backward at its case."""

    attributes: Sequence[str]
    """Names of what forward keeps on ctx, such as ``scale``."""
    values: Mapping[ast.AST, Value] = {}
    """The values of its expressions."""
    fixed: Collection[ast.AST] = frozenset()
    """The expressions that do not depend on the cotangent."""
    forward: Sequence[Noted] = ()
    """The expressions of forward, those of different values."""
    derivatives: Sequence[str] = ()
    """The derivatives of what forward calls, as code of ``{x}``."""


def repairs(tree: ast.FunctionDef, around: Surroundings) -> Iterator[Edit]:
    """Yield the edits of a backward, the plainest first.

    Args:
        tree: Its definition.
        around: What is known of it.
    """
    expressions = list(_expressions(tree))
    context = _context(tree)
    held = Held(tree, [f"{context}.{name}" for name in around.attributes], around.values)
    yield from _order(tree)
    yield from statements(tree)
    yield from accumulations(tree)
    yield from _longer_loops(tree)
    for family in (_bounds, _signs, _terms, _switches, kept_dims):
        yield from _made_by(family, expressions)
    yield from parts(expressions)
    yield from slices(expressions)
    for family in (_operands, _products, _transposes):
        yield from _made_by(family, expressions)
    yield from conditions(tree)
    yield from _made_by(without_gaps, expressions)
    yield from unwrapped(expressions)
    for node, _ in expressions:
        for made in _divisors(node, held.names):
            yield Edit(node, made, node)
    for node, outer in expressions:
        for made in _numbers(node):
            yield Edit(node, made, outer, is_factor=isinstance(made, ast.Constant))
    for node, outer in expressions:
        if _is_product(node) and (outer is node or not _is_product(outer)):
            for factor in (0.5, 2.0):
                made = ast.BinOp(ast.Constant(factor), ast.Mult(), node)
                yield Edit(node, made, node, is_factor=True)
    yield from _made_by(functools.partial(_names, held=held), expressions)
    yield from _scaled_numbers(expressions, around.values)
    yield from _multiples(expressions, around.forward)
    yield from _made_by(_functions, expressions)
    yield from _made_by(functools.partial(_indices, values=around.values), expressions)
    yield from _made_by(functools.partial(masked_means, held=held), expressions)
    yield from _made_by(unbiased_means, expressions)
    yield from _made_by(shifted, expressions)
    uses = _uses(tree, held.names)
    yield from _of_all_uses(uses, held)
    yield from grafts(around.values, around.forward, around.fixed)
    yield from _made_by(held.factors, _results(tree), is_factor=True)
    yield from _made_by(held.rows, _results(tree), is_factor=True)
    yield from _made_by(functools.partial(_oriented, values=around.values), expressions)
    yield from _of_two_uses(uses, held)
    variable = [
        (node, outer)
        for node, outer in expressions
        if isinstance(node, ast.Name) and not isinstance(outer, ast.Compare)
    ]
    yield from _made_by(held.factors, variable, is_factor=True)
    nodes = [node for node, _ in expressions]
    yield from swapped_functions(nodes, around.derivatives, around.values, held)
    yield from moved_factors(nodes, around.values)
    yield from _grafted_factors(expressions, around)
    yield from weighed_ends(nodes, around.values)
    summed = [each for each in expressions if isinstance(each[0], ast.Name | ast.Call)]
    yield from _made_by(functools.partial(summed_factors, held=held), summed, is_factor=True)


def _made_by(
    family: Callable[[ast.expr], Iterator[ast.expr]],
    expressions: Iterable[tuple[ast.expr, ast.AST]],
    *,
    is_factor: bool = False,
) -> Iterator[Edit]:
    for node, outer in expressions:
        for made in family(node):
            yield Edit(node, made, outer, is_factor=is_factor)


# ---- places -----------------------------------------------------------------------------------


def _expressions(tree: ast.FunctionDef) -> Iterator[tuple[ast.expr, ast.AST]]:
    """The expressions that a body computes, each with the one around it.

    The keys of a cache are left: with another key, any value is computed anew.
    """
    keys, names = _looked_up(tree), frozenset(variables(tree))
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and _stored(statement) & keys:
            continue
        around = {c: parent for parent in ast.walk(statement) for c in ast.iter_child_nodes(parent)}
        for child, parent in around.items():
            if isinstance(child, ast.expr) and _is_value(parent, child, names):
                yield child, _around(child, around)


def _looked_up(tree: ast.FunctionDef) -> set[str]:
    """The variables that the body looks up, as in ``if key not in cache``."""
    return {
        node.left.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn)
        if isinstance(node.left, ast.Name)
    }


def _stored(statement: ast.Assign) -> set[str]:
    return {each.id for each in statement.targets if isinstance(each, ast.Name)}


def _around(child: ast.expr, around: Mapping[ast.AST, ast.AST]) -> ast.AST:
    """The node to show of a change: a number says nothing without its statement."""
    parent = around[child]
    if isinstance(child, ast.Constant | ast.Slice):
        while isinstance(parent, ast.UnaryOp | ast.Tuple) and parent in around:
            parent = around[parent]
    if isinstance(parent, ast.Attribute) and isinstance(around.get(parent), ast.Call):
        return around[parent]
    shows = (ast.expr, ast.Assign) if isinstance(child, ast.Constant) else ast.expr
    return parent if isinstance(parent, shows) and not isinstance(parent, ast.Tuple) else child


def _is_value(parent: ast.AST, child: ast.expr, names: Collection[str]) -> bool:
    """Return True for what is computed: no target, no name of a function or module."""
    if isinstance(getattr(child, "ctx", None), ast.Store | ast.Del):
        return False
    if isinstance(parent, ast.Attribute) and isinstance(child, ast.Name):
        return child.id in names
    return not (isinstance(parent, ast.Call) and parent.func is child)


def _results(tree: ast.FunctionDef) -> Iterator[tuple[ast.expr, ast.AST]]:
    """The expressions that are returned, or that variables are set to."""
    for node in ast.walk(tree):
        match node:
            case ast.Return(value=ast.Tuple(elts=elts)):
                yield from ((each, each) for each in elts)
            case ast.Return(value=ast.expr() as value) | ast.Assign(value=value):
                yield value, value


def _context(tree: ast.FunctionDef) -> str:
    return tree.args.args[0].arg if tree.args.args else "ctx"


# ---- families ---------------------------------------------------------------------------------


def _bounds(node: ast.expr) -> Iterator[ast.expr]:
    """A slice that ends, or begins, where it does without what is added to a bound."""
    match node:
        case ast.Slice(lower=lower, upper=ast.BinOp() as upper, step=step):
            yield from (ast.Slice(lower, made, step) for made in _without_offset(upper))
        case ast.Slice(lower=ast.BinOp() as lower, upper=upper, step=step):
            yield from (ast.Slice(made, upper, step) for made in _without_offset(lower))


def _without_offset(node: ast.BinOp) -> Iterator[ast.expr]:
    if isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant):
        yield node.left


def _signs(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            yield ast.BinOp(left, _OPERATORS[type(op)](), right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):  # rounded up
            negated = ast.UnaryOp(ast.USub(), left)
            yield ast.UnaryOp(ast.USub(), ast.BinOp(negated, ast.FloorDiv(), right))


def _is_product(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.MatMult)


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    """A sum or difference without one of its terms."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield left
            yield right
        case ast.BinOp(left=left, op=ast.Sub()):
            yield left


def _switches(node: ast.expr) -> Iterator[ast.expr]:
    """Another method, comparison, branch or truth value."""
    match node:
        case (
            ast.Call(func=ast.Attribute(value=value, attr="gather"), args=[dim, index])
            | ast.Call(func=ast.Attribute(attr="gather"), args=[value, dim, index])
        ):
            x, places = ast.unparse(value), f"{ast.unparse(dim)}, {ast.unparse(index)}"
            yield parsed(f"({x}).new_zeros(({x}).shape).scatter_add({places}, {x})")
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args, keywords=keywords):
            for pair in _METHODS:
                if attr in pair:
                    other = pair[1 - pair.index(attr)]
                    yield ast.Call(ast.Attribute(value, other, ast.Load()), args, keywords)
        case ast.Compare(left=left, ops=[op], comparators=comparators):
            for kind in _COMPARISONS.get(type(op), ()):
                yield ast.Compare(left, [kind()], comparators)
        case ast.Call(func=ast.Name(id="range")):
            yield ast.Call(ast.Name("reversed", ast.Load()), [node], [])
        case ast.Call(func=ast.Name(id="reversed"), args=[ast.Call() as steps]):
            yield steps
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """Two neighbours that change places."""
    match node:
        case ast.BinOp(left=left, op=ast.Sub() | ast.Div() | ast.MatMult() as op, right=right):
            yield ast.BinOp(right, op, left)
            yield from _weights(node)
        case ast.BinOp(op=ast.Add()):
            yield from _weights(node)
        case ast.Call(func=func, args=args, keywords=keywords):
            for swapped in _exchanges(args):
                yield ast.Call(func, swapped, keywords)
        case ast.Tuple(elts=elts):
            for swapped in _exchanges(elts):
                yield ast.Tuple(swapped, ast.Load())


def _weights(node: ast.expr) -> Iterator[ast.expr]:
    """The weights of two terms, as in ``u * a + v * b``, exchanged."""
    match node:
        case ast.BinOp(
            left=ast.BinOp(left=u, op=ast.Mult() as times, right=a),
            op=op,
            right=ast.BinOp(left=v, op=ast.Mult(), right=b),
        ):
            yield ast.BinOp(ast.BinOp(v, times, a), op, ast.BinOp(u, times, b))


def _exchanges(nodes: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    for at in range(len(nodes) - 1):
        yield [*nodes[:at], nodes[at + 1], nodes[at], *nodes[at + 2 :]]


def _products(node: ast.expr) -> Iterator[ast.expr]:
    """A product in the place of a sum or a power, and the other way round."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield ast.BinOp(left, ast.Mult(), right)
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant() as right):
            yield ast.BinOp(left, ast.Pow(), right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield ast.BinOp(left, ast.Add(), right)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            yield ast.BinOp(left, ast.Mult(), right)


def _transposes(node: ast.expr) -> Iterator[ast.expr]:
    """Without a transpose or conjugate that is there, or with one that is not."""
    match node:
        case ast.Attribute(value=value, attr=attr) if attr in _TRANSPOSES:
            yield value
            yield ast.Attribute(value, _TRANSPOSES[attr], ast.Load())
        case ast.Call(func=ast.Attribute(value=value, attr="t" | "transpose" | "conj")):
            yield value
        case ast.Name() | ast.Call() | ast.Subscript() | ast.Attribute():
            yield ast.Attribute(node, "mT", ast.Load())
            yield ast.Call(ast.Attribute(node, "conj", ast.Load()), [], [])


def _numbers(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            for other in (value + 1, value - 1, 2 * value, value / 2, -value):
                if other != value:
                    yield ast.Constant(other)
        case ast.Subscript(value=value, slice=ast.Name() as index):
            for op in (ast.Sub(), ast.Add()):
                beside = ast.BinOp(index, op, ast.Constant(1))
                yield ast.Subscript(value, beside, ast.Load())
            # The value of the turn before, of which there is none at first.
            earlier = ast.Subscript(value, parsed(f"{index.id} - 1"), ast.Load())
            yield ast.BinOp(earlier, ast.Mult(), parsed(f"({index.id} > 0)"))
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[*indices])):
            for at, one in enumerate(indices):
                for sign in ("+", "-") if isinstance(one, ast.Name) else ():
                    moved = parsed(f"{ast.unparse(one)} {sign} 1")
                    others = [*indices[:at], moved, *indices[at + 1 :]]
                    yield ast.Subscript(value, ast.Tuple(others, ast.Load()), ast.Load())


_SCALES = (1 / 64, 1 / 8, 8, 64)
"""Multiples of a number on which the accuracy of an approximation depends."""


def _scaled_numbers(
    expressions: Sequence[tuple[ast.expr, ast.AST]], values: Mapping[ast.AST, Value]
) -> Iterator[Edit]:
    """A longer series or iteration, a smaller step, another threshold between two formulas."""
    for node, outer in expressions:
        match node:
            case ast.Constant(value=float() as number) if number:
                for scale in _SCALES:
                    yield Edit(node, ast.Constant(number * scale), outer, scale=scale)
            case ast.Constant(value=int() as number) if number > 1:
                for scale in (8, 64):
                    yield Edit(node, ast.Constant(number * scale), outer, scale=scale)
            case ast.Attribute() if isinstance(values.get(node), float):
                for scale in _SCALES:
                    yield Edit(node, parsed(f"{scale} * {ast.unparse(node)}"), outer, scale=scale)


def _longer_loops(tree: ast.FunctionDef) -> Iterator[Edit]:
    """More rounds of an iteration, which a better start would need fewer of."""
    for loop in ast.walk(tree):
        match loop:
            case ast.For(
                target=ast.Name(id="_"),
                iter=ast.Call(func=ast.Name(id="range") as func, args=[ast.Name(id=name)]) as node,
            ):
                for scale in (8, 64):
                    longer = ast.Call(func, [parsed(f"{scale} * {name}")], [])
                    yield Edit(node, longer, node, scale=scale)


def _multiples(
    expressions: Sequence[tuple[ast.expr, ast.AST]], forward: Sequence[Noted]
) -> Iterator[Edit]:
    """A multiple of a number of forward in the place of one that is nearly as large."""
    known = [each for each in forward if isinstance(each.node, ast.Constant)]
    for node, outer in expressions:
        if not (isinstance(node, ast.Constant) and isinstance(node.value, float)):
            continue
        for each in known:
            for times in range(1, MULTIPLES_MOST):
                exact = times * each.value
                if node.value != exact and math.isclose(
                    node.value, exact, rel_tol=MULTIPLES_DIFFERENCE
                ):
                    made = parsed(f"{times} * {each.code}")
                    yield Edit(node, made, outer, is_factor=True)


def _names(node: ast.expr, held: Held) -> Iterator[ast.expr]:
    """Another variable in the place of one, or of one of its parts."""
    name = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    if name in held.names:
        yield from (parsed(each) for each in held.like(node) if each != name)
    match node:
        case ast.Subscript(value=ast.Name(id=whole), slice=ast.Constant() | ast.UnaryOp()):
            yield from (parsed(each) for each in held.like(node) if each != whole)


def _indices(node: ast.expr, values: Mapping[ast.AST, Value]) -> Iterator[ast.expr]:
    value = values.get(node)
    if isinstance(value, np.ndarray) and value.dtype.kind == "i":
        yield from of_an_index(node)


def _oriented(node: ast.expr, values: Mapping[ast.AST, Value]) -> Iterator[ast.expr]:
    value = values.get(node)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        yield from orientations(node, value.ndim)


def _extents(node: ast.Name, held: Sequence[str]) -> Iterator[ast.expr]:
    """The last extent of some tensor in the place of a variable, which is a number then."""
    yield from (parsed(f"{each}.shape[-1]") for each in held if each != node.id)


def _functions(node: ast.expr) -> Iterator[ast.expr]:
    """A function of a variable in the place of the variable, and ``p`` in that of ``1 - p``."""
    match node:
        case ast.Name() | ast.Call(func=ast.Attribute()):
            yield from (parsed(text.format(ast.unparse(node))) for text in _OF_A_VARIABLE)
        case ast.BinOp(left=ast.Constant(value=1), op=ast.Sub(), right=right):
            yield right


_OF_A_VARIABLE = (
    "1 - {0}",
    "{0}.sqrt()",
    "{0}**2",
    "1 / {0}",
    "{0}.exp()",
    "{0}.log()",
    "{0}.abs()",
    "{0} * (1 - {0})",
    "{0} / (1 - {0})",
    "(1 - {0}**2)",
)


def _uses(tree: ast.FunctionDef, held: Sequence[str]) -> dict[str, list[ast.Name]]:
    """The uses of each variable that has several."""
    found: dict[str, list[ast.Name]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in held:
            found.setdefault(node.id, []).append(node)
    return {name: nodes for name, nodes in found.items() if len(nodes) > 1}


def _of_all_uses(uses: Mapping[str, Sequence[ast.Name]], held: Held) -> Iterator[Edit]:
    """Another variable, or a function of the same one, in all uses of a variable."""
    for first, *rest in uses.values():
        negative = ast.UnaryOp(ast.USub(), first)
        symmetric = parsed(f"({first.id} + {first.id}.mT) / 2")
        for made in (*_functions(first), *_names(first, held), negative, symmetric):
            yield Edit(first, made, first, others=tuple(rest))


def _of_two_uses(uses: Mapping[str, Sequence[ast.Name]], held: Held) -> Iterator[Edit]:
    """Another variable in two of the uses of one."""
    for nodes in uses.values():
        for one, other in itertools.combinations(nodes, 2) if len(nodes) > 2 else ():
            for made in (*_names(one, held), *_extents(one, held.names)):
                yield Edit(one, made, one, others=(other,))


def _divisors(node: ast.expr, held: Sequence[str]) -> Iterator[ast.expr]:
    """Another count in the place of that by which something is divided."""
    match node:
        case ast.BinOp(left=left, op=ast.Div() as op, right=right):
            for name in held:
                if not isinstance(right, ast.Name):
                    yield ast.BinOp(left, op, parsed(name))
                yield ast.BinOp(left, op, parsed(f"{name}.sum()"))


def _grafted_factors(
    expressions: Sequence[tuple[ast.expr, ast.AST]], around: Surroundings
) -> Iterator[Edit]:
    """A factor that forward has, and backward does not."""
    nodes = [node for node, _ in expressions if isinstance(node, ast.Name | ast.BinOp | ast.Call)]
    yield from factor_grafts(nodes, around.values, around.forward)


def _order(tree: ast.FunctionDef) -> Iterator[Edit]:
    """Two targets of an assignment that change places."""
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
            target = statement.targets[0]
            for one, other in itertools.combinations(range(len(target.elts)), 2):
                swapped = list(target.elts)
                swapped[one], swapped[other] = swapped[other], swapped[one]
                yield Edit(target, ast.Tuple(swapped, ast.Store()), target)

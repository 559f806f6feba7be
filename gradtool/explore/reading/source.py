"""Numbers and words in the source of a Function that suggest arguments worth a try."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import Any

import msgspec

from gradtool.adapters.common.buffers import is_of_the_engine
from gradtool.cases.inference.documentation import source
from gradtool.explore.reading.names import is_block, is_guard
from gradtool.explore.reading.wording import speaks_of_parity, wording

_METHODS = ("forward", "setup_context", "backward", "vjp")

_SOLVERS = re.compile(r"lstsq|qr|svd|pinv|solve\w*|cholesky\w*|eigh?|inv|inverse|lu\w*|det|slogdet")

_NEEDED = re.compile(r"needs_input_grad")

_EIGENVALUES = re.compile(r"eigh|eigvalsh")

_REDUCTIONS = {"mean", "sum"}
"""What a loss may do if not "none"."""

_LIMITERS = {"clamp", "clip", "clamp_min", "clamp_max", "clamp_", "threshold", "hardtanh", "where"}

_LEAST_THRESHOLD, _LARGEST_THRESHOLD = 1e-3, 1e4
"""What is compared with a smaller number guards a division; a larger one is a mark, not a limit."""

_LARGEST_GUARD = 1e-2
"""The size below which a formula may be replaced by its limit at zero."""

_LEAST_FLOOR = 1e-10
"""The floor of a logarithm that is smaller only guards against the logarithm of zero."""

_VIEWS = {"unsqueeze", "view", "reshape", "t", "transpose", "gather", "index_select", "roll"}

_LOGARITHMS = {"log", "log10", "log2"}

_LARGEST_BLOCK = 300

_BYTES = {"uint8", "int8", "byte", "char"}

_ORDERS = re.compile(
    r"a?(min|max)|arg(min|max|sort)|aminmax|(min|max)imum|f(min|max)|cum(min|max)|m?sort|topk|"
    r"kthvalue|(nan)?(median|quantile)|mode|unique\w*|\w*max_pool\w*|searchsorted|bucketize|"
    r"scatter_reduce\w*|segment_reduce|index_reduce\w*|sign|isclose|histc|inf"
)
"""Operations whose result depends on which of some entries is larger, and a norm that may do so."""

_PLAIN_CALLS = {"range", "reversed", "len", "int", "float", "bool", "zip", "enumerate", "tuple"}


@lru_cache(maxsize=64)
def trees(function: Any) -> tuple[ast.AST, ...]:
    """The definitions of the methods of a Function, or of a callable, as far as there is source."""
    is_class = isinstance(function, type)
    methods: list[Any] = (
        [getattr(function, name, None) for name in _METHODS] if is_class else [function]
    )
    found: list[ast.AST] = []
    for method in methods:
        try:
            own = inspect.unwrap(method)
            if not is_of_the_engine(own):
                found.append(ast.parse(textwrap.dedent(inspect.getsource(own))))
        except (OSError, TypeError, SyntaxError, ValueError):
            continue
    return tuple(found)


@lru_cache(maxsize=64)
def nodes(function: Any) -> tuple[ast.AST, ...]:
    """All parts of `trees`, one tree after the other."""
    return tuple(node for tree in trees(function) for node in ast.walk(tree))


def keeps_bytes(function: Any) -> bool:
    """Return True for a source that converts something to integers of a byte."""
    return any(isinstance(node, ast.Attribute) and node.attr in _BYTES for node in nodes(function))


def tested_near_zero(function: Any) -> set[str]:
    """The names of what forward compares with zero, or its size with a tiny number.

    There a formula is replaced by its limit, of which backward needs the derivative too.
    """
    return {
        name
        for node in nodes(getattr(function, "forward", function))
        if isinstance(node, ast.Compare) and len(node.ops) == 1
        for name in _near_zero(node.left, node.ops[0], node.comparators[0])
    }


def _near_zero(left: ast.expr, op: ast.cmpop, right: ast.expr) -> Iterator[str]:
    match left, op, right:
        case ast.Name(id=name), ast.Eq() | ast.NotEq(), ast.Constant(value=0):
            yield name
        case (
            ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="abs"), args=args),
            ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE(),
            ast.Constant(value=float(limit)),
        ) if limit <= _LARGEST_GUARD:
            yield from (each.id for each in args if isinstance(each, ast.Name))
            yield owner


def divides(function: Any) -> bool:
    """Return True for a backward that divides by something."""
    return any(
        isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div)
        for name in ("backward", "vjp")
        for node in nodes(getattr(function, name, None))
    )


def compares_entries(function: Any) -> bool:
    """Return True unless no entries of tensors are ordered or compared, as far as is known."""
    return any(map(_may_compare, nodes(function)))


def _may_compare(node: ast.AST) -> bool:
    match node:
        case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]):
            return False
        case ast.Compare(left=left, comparators=others):
            return not any(isinstance(each, ast.Constant) for each in (left, *others))
        case ast.Call(func=ast.Name(id=name)):  # Whatever the user's own functions do.
            return name not in _PLAIN_CALLS
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return (owner[0].isupper() and owner != "F") or bool(_ORDERS.fullmatch(name))
        case ast.Attribute(attr=name):
            return bool(_ORDERS.fullmatch(name))
    return False


def slices_by_name(function: Any) -> bool:
    """Return True for a forward that takes a tensor apart at a place that has a name."""
    return any(
        isinstance(node, ast.Slice) and isinstance(node.upper or node.lower, ast.Name)
        for node in nodes(getattr(function, "forward", function))
    )


def blocks(function: Any) -> list[int]:
    """Sizes of chunks, blocks or tiles that the source names, smallest first."""
    found = set(_named_sizes(nodes(function)))
    found |= set(_constants(function))
    return sorted(n for n in found if 1 < n <= _LARGEST_BLOCK)


def _named_sizes(found: Iterable[ast.AST]) -> Iterator[int]:
    for node in found:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(n))) if (
                is_block(name)
            ):
                yield n
            case ast.Call(func=ast.Name(id="range"), args=[_, _, ast.Constant(value=int(n))]):
                yield n
            case ast.Call(func=ast.Attribute(attr="split"), args=[*_, ast.Constant(value=int(n))]):
                yield n
            case ast.Compare(comparators=[ast.Constant(value=int(n))]):
                yield n
            case ast.BinOp(op=ast.FloorDiv() | ast.Mod(), right=ast.Constant(value=int(n))):
                yield n


def _constants(function: Any) -> Iterator[int]:
    """Integers under such a name in the class or the module."""
    method = getattr(function, "forward", function)
    spaces = [vars(function) if isinstance(function, type) else {}]
    spaces.append(getattr(inspect.unwrap(method), "__globals__", {}))
    for space in spaces:
        for name, value in list(space.items()):
            if type(value) is int and is_block(name):
                yield value


def solves(function: Any) -> bool:
    """Return True if the source solves or factorizes, for which a matrix may have to be high."""
    return _has_attribute(function, _SOLVERS)


def takes_eigenvalues(function: Any) -> bool:
    """Return True if the source asks for the eigenvalues of a symmetric matrix."""
    return _has_attribute(function, _EIGENVALUES)


def _has_attribute(function: Any, pattern: re.Pattern[str]) -> bool:
    """Return True if the source reads an attribute of such a name."""
    return any(
        isinstance(node, ast.Attribute) and pattern.fullmatch(node.attr) for node in nodes(function)
    )


@lru_cache(maxsize=64)
def iterations(function: Any) -> Iteration | None:
    """The loop of forward that improves on a value; None if there is none.

    What it has not converged to has another derivative than what it converges to, and backward may
    be that of the latter.
    """
    method = getattr(function, "forward", function)
    found = [node for each in _with_helpers(method) for node in nodes(each) if _improves(node)]
    counts = {
        name.id
        for node in found
        if isinstance(node, ast.For)
        for name in ast.walk(node.iter)
        if isinstance(name, ast.Name)
    }
    return Iteration(frozenset(counts)) if found else None


class Iteration(msgspec.Struct, frozen=True):
    """A loop that improves on a value."""

    counts: frozenset[str]
    """Names that say how often."""


def _with_helpers(method: Any) -> Iterator[Any]:
    """A method, and the functions of its module that it names."""
    yield method
    inner = inspect.unwrap(method)
    space = getattr(inner, "__globals__", {})
    for name in getattr(getattr(inner, "__code__", None), "co_names", ()):
        if inspect.isfunction(space.get(name)):
            yield space[name]


def _improves(node: ast.AST) -> bool:
    """Return True for a loop whose rounds differ only in what the last one assigned."""
    match node:
        case ast.While():
            pass
        case ast.For(target=ast.Name(id=target), body=body) if not _reads(body, {target}):
            pass
        case _:
            return False
    assigned = {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    return _reads(node.body, assigned)


def _reads(body: Sequence[ast.stmt], names: Collection[str]) -> bool:
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
        for statement in body
        for node in ast.walk(statement)
    )


def thresholds(function: Any) -> list[float]:
    """Numbers other than 0 that the source compares with, or limits something to."""
    found = {abs(n) for n in _compared(function)}
    return sorted(n for n in found if _LEAST_THRESHOLD < n < _LARGEST_THRESHOLD)


def _compared(function: Any) -> Iterator[float]:
    for node in nodes(function):
        operands: list[ast.expr] = []
        match node:
            case ast.Compare(left=left, comparators=others):
                operands = [left, *others]
            case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords) if (
                name in _LIMITERS
            ):
                operands = [*args, *(keyword.value for keyword in keywords)]
        for operand in operands:
            yield from _number(operand, function)


def _number(node: ast.expr, function: Any) -> Iterator[float]:
    """The number that an expression is, or that a variable of the class or module holds."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            yield from _number(inner, function)
            return
        case ast.Constant(value=value):
            pass
        case ast.Name(id=name):
            method = inspect.unwrap(getattr(function, "forward", function))
            value = getattr(method, "__globals__", {}).get(name)
        case ast.Attribute(attr=name):
            value = getattr(function, name, None)
        case _:
            return
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def tested_for_truth(function: Any) -> set[str]:
    """Names of which the source takes a number's truth, as ``if ctx.limit``: zero is like None."""
    return {name for node in nodes(function) for test in _tests(node) for name in _name_of(test)}


def _tests(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.UnaryOp(op=ast.Not(), operand=test):
            return [test]
        case ast.BoolOp(values=values):
            return values
    return []


def _name_of(node: ast.expr) -> list[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            return [name]
    return []


def tested_for_none(function: Any) -> set[str]:
    """Names that forward compares with None."""
    parts = nodes(getattr(function, "forward", function))
    return {name for node in parts for name in compared_with_none(node)}


def compared_with_none(node: ast.AST) -> list[str]:
    """The variable that an expression compares with None, if it is such a comparison."""
    match node:
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[ast.Is() | ast.IsNot()],
            comparators=[ast.Constant(value=None)],
        ):
            return [name]
    return []


def asks_for_needed(function: Any) -> bool:
    """Return True if backward reads which gradients are needed."""
    return _has_attribute(function, _NEEDED)


def floors_of_logarithms(function: Any) -> set[float]:
    """Numbers to which forward limits something of which it takes the logarithm."""
    found: set[float] = set()
    for tree in trees(getattr(function, "forward", function)):
        limited = dict(_limited(tree, function))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr not in _LOGARITHMS:
                    continue
                inner = [node.func.value, *node.args]
                found |= {n for each in inner for n in _limits_within(each, function)}
                names = {each.id for each in inner if isinstance(each, ast.Name)}
                found |= {n for name in names for n in limited.get(name, ())}
    return {n for n in found if _LEAST_FLOOR <= n <= _LEAST_THRESHOLD}


def _limited(tree: ast.AST, function: Any) -> Iterator[tuple[str, list[float]]]:
    """The variables that hold something limited, with its limits."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, list(_limits_within(value, function))


def _limits_within(tree: ast.AST, function: Any) -> Iterator[float]:
    """Numbers, but no guards by their names, in calls that limit something."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords) if (
                name in _LIMITERS | {"maximum"}
            ):
                for each in (*args, *(keyword.value for keyword in keywords)):
                    named = getattr(each, "id", getattr(each, "attr", ""))
                    yield from () if is_guard(named) else _number(each, function)


def is_exact_near_zero(function: Any) -> bool:
    """Return True for a forward with ``expm1`` or ``log1p``, which keep digits of small numbers.

    In a softplus, ``log1p`` of an exponential is about large ones.
    """
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr == "expm1" or (node.func.attr == "log1p" and not _exponential(node)))
        for each in _with_helpers(getattr(function, "forward", function))
        for node in nodes(each)
    )


def _exponential(call: ast.Call) -> bool:
    """Return True for a call that takes an exponential."""
    return any(isinstance(node, ast.Attribute) and node.attr == "exp" for node in ast.walk(call))


def divided(function: Any) -> set[str]:
    """Names in divisions with a rest, as ``width // 2``: forward may need a certain rest."""
    helpers = _with_helpers(getattr(function, "forward", function))
    return {
        name.id
        for node in chain(_whole(function), *map(nodes, helpers))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod)
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }


def _whole(function: Any) -> Iterator[ast.AST]:
    """All parts of the whole definition, with methods that are no part of the protocol."""
    with suppress(SyntaxError):
        yield from ast.walk(ast.parse(textwrap.dedent(source(function))))


def subtracted(function: Any) -> set[tuple[str, str]]:
    """Pairs of names of which forward takes differences, as ``a - b`` or ``x[:, None] - x``."""
    return {
        (one, other)
        for node in nodes(getattr(function, "forward", function))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        for one in _indexed(node.left)
        for other in _indexed(node.right)
    }


def _indexed(node: ast.expr) -> set[str]:
    """The name of which an expression is a part, or another view."""
    match node:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
            return {name}
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _VIEWS:
            return {name}
    return set()


def lifts_half(function: Any) -> bool:
    """Return True for a forward that names half precision, or converts to single precision."""
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("float", "float16", "bfloat16", "half")
        for node in nodes(getattr(function, "forward", function))
    )


def converted_to_floats(function: Any) -> set[str]:
    """Names of tensors that forward turns into floating numbers: these are no indices."""
    return {
        name
        for node in nodes(getattr(function, "forward", function))
        if isinstance(node, ast.Call)
        for name in _converted(node)
    }


def _converted(call: ast.Call) -> Iterator[str]:
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr="float" | "double" | "type_as"):
            yield name
        case ast.Attribute(value=ast.Name(id=name), attr="to" | "type") if any(
            "float" in text or "double" in text or text.endswith("dtype")
            for text in map(ast.unparse, (*call.args, *(each.value for each in call.keywords)))
        ):
            yield name


def step_of_integers(function: Any) -> int:
    """Return 2 where the source speaks of odd or even numbers, else 1."""
    method = getattr(function, "forward", function)
    helpers = (ast.unparse(tree) for each in _with_helpers(method) for tree in trees(each))
    return 2 if wording(function).speaks_of_parity or any(map(speaks_of_parity, helpers)) else 1


def words(function: Any, given: Mapping[str, Any]) -> dict[str, list[str]]:
    """For each name the strings that the source compares it with, or looks it up by.

    Those that docstrings quote count for an argument of which they quote the value in `given`.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for node in nodes(function):
        for name, each in _words_at(node, function):
            found[name] += each
    documented = wording(function).quoted
    for each in found.values():
        # One of several words may be what is left after all comparisons.
        each += documented if set(documented) & set(each) else []
        each += sorted(_REDUCTIONS) if "none" in each and _REDUCTIONS & set(each) else []
    for name, value in given.items():
        found[name] += documented if isinstance(value, str) and value in documented else []
    return {name: list(dict.fromkeys(each)) for name, each in found.items()}


def _words_at(node: ast.AST, function: Any) -> Iterator[tuple[str, list[str]]]:
    match node:
        case ast.Compare(left=left, comparators=others):
            for each in (left, *others):
                yield from _of_name(each, [w for other in (left, *others) for w in _strings(other)])
        case (
            ast.Subscript(value=table, slice=key)
            | ast.Call(func=ast.Attribute(value=table, attr="get"), args=[key, *_])
        ):
            yield from _of_name(key, _keys(table, function))
        case ast.Match(subject=subject, cases=cases):
            yield from _of_name(subject, [w for case in cases for w in _strings(case.pattern)])
        case ast.arg(arg=name, annotation=ast.Subscript(value=ast.Name(id="Literal")) as literal):
            yield name, _strings(literal)


def _of_name(node: ast.expr, found: list[str]) -> Iterator[tuple[str, list[str]]]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if found:
            yield name, found


def _keys(table: ast.expr, function: Any) -> list[str]:
    """The words that a table, written out or in a variable of the module, is looked up by."""
    match table:
        case ast.Dict(keys=keys):
            return [word for key in keys if key is not None for word in _strings(key)]
        case ast.Name(id=name):
            method = inspect.unwrap(getattr(function, "forward", function))
            known = getattr(method, "__globals__", {}).get(name)
        case ast.Attribute(attr=name):
            known = getattr(function, name, None)
        case _:
            return []
    return [key for key in known if isinstance(key, str)] if isinstance(known, dict) else []


def _strings(node: ast.AST) -> list[str]:
    return [
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]

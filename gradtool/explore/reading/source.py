"""Numbers and words in the source of a Function that suggest arguments worth a try."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from gradtool.adapters.common.buffers import is_of_the_engine
from gradtool.adapters.common.parsed_source import forward_of, own_source, walked
from gradtool.explore.reading.names import is_block
from gradtool.explore.reading.wording import wording
from gradtool.explore.reading.wording.entries import speaks_of_parity

_METHODS = ("forward", "setup_context", "backward", "vjp")

_SOLVERS = re.compile(r"lstsq|qr|svd|pinv|solve\w*|cholesky\w*|eigh?|inv|inverse|lu\w*|det|slogdet")

_STRIDED = re.compile(r"conv[123]d|(max|avg|lp)_pool[123]d")

_NEEDED = re.compile(r"needs_input_grad")

_STRIDES = re.compile(r"stride|(as|empty|new_empty)_strided")

_EXPONENTIALS = re.compile(r".*(exp|softmax|softmin|sigmoid|softplus|sinh|cosh|tanh).*")

_DRAWS = re.compile(r"rand(n|int|perm)?(_like)?|bernoulli_?|uniform_|normal_?|Generator")

_SHARES = re.compile(r"(log_?)?(softmax|softmin|sigmoid)|(binary_)?cross_entropy\w*")

_EIGENVALUES = re.compile(r"eigh|eigvalsh")

_REDUCTIONS = {"mean", "sum"}
"""What a loss may do if not "none"."""

_KEYWORDS = (
    ("norm", r"i?[rh]?fft[2n]?", ("backward", "ortho", "forward")),
    ("reduction", r".*", ("none", "mean", "sum")),
    ("reduce", r".*reduce.*", ("sum", "prod", "mean", "amax", "amin")),
    ("mode", r"pad", ("constant", "reflect", "replicate", "circular")),
    ("approximate", r"gelu", ("none", "tanh")),
)
"""Keywords of operations, and the strings that they take."""

_LARGEST_BLOCK = 300


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
                found.append(own_source(own)[1])
        except (OSError, TypeError, SyntaxError, ValueError):
            continue
    return tuple(found)


@lru_cache(maxsize=64)
def nodes(function: Any) -> tuple[ast.AST, ...]:
    """All parts of `trees`, one tree after the other."""
    return tuple(node for tree in trees(function) for node in walked(tree))


def forward_nodes(function: Any) -> tuple[ast.AST, ...]:
    """All parts of the tree of forward."""
    return nodes(forward_of(function))


def slices_by_name(function: Any) -> bool:
    """Return True for a forward that takes a tensor apart at a place that has a name."""
    return any(
        isinstance(node, ast.Slice) and isinstance(node.upper or node.lower, ast.Name)
        for node in forward_nodes(function)
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
    method = forward_of(function)
    spaces = [vars(function) if isinstance(function, type) else {}]
    spaces.append(getattr(inspect.unwrap(method), "__globals__", {}))
    for space in spaces:
        for name, value in list(space.items()):
            if type(value) is int and is_block(name):
                yield value


def solves(function: Any) -> bool:
    """Return True if the source solves or factorizes, for which a matrix may have to be high."""
    return _has_attribute(function, _SOLVERS)


def ignores_rest(function: Any) -> bool:
    """Return True for a forward with a convolution or a pool, which ignores what is left over."""
    return _has_attribute(forward_of(function), _STRIDED)


def takes_eigenvalues(function: Any) -> bool:
    """Return True if the source asks for the eigenvalues of a symmetric matrix."""
    return _has_attribute(function, _EIGENVALUES)


def gives_eigenvectors(function: Any) -> bool:
    """Return True for a forward that computes eigenvectors, and a backward for several results.

    Where two eigenvalues are equal, the eigenvectors have no derivative.
    """
    takes = {"eig", "eigh", "symeig"}
    forward = forward_nodes(function)
    backward = inspect.unwrap(getattr(function, "backward", None) or function)
    code = getattr(backward, "__code__", None)
    return (code is not None and code.co_argcount > _OF_ONE_RESULT) and any(
        isinstance(each, ast.Attribute) and each.attr in takes for each in forward
    )


_OF_ONE_RESULT = 2
"""Parameters of a backward that takes one gradient: ctx and that."""


def takes_exponentials(function: Any) -> bool:
    """Return True for a source with an exponential, also one inside of a softmax or its like."""
    return _has_attribute(function, _EXPONENTIALS)


def draws_numbers(function: Any) -> bool:
    """Return True for a source that draws random numbers."""
    return _has_attribute(function, _DRAWS)


def takes_shares(function: Any) -> bool:
    """Return True for a source with a softmax or a sigmoid, which large numbers make 0 or 1."""
    return _has_attribute(function, _SHARES)


def reads_strides(function: Any) -> bool:
    """Return True for a source that asks where entries lie in memory."""
    return _has_attribute(function, _STRIDES)


def forward_names(function: Any, attribute: str) -> bool:
    """Return True if forward reads an attribute of this name, as to call it."""
    parts = forward_nodes(function)
    return any(isinstance(node, ast.Attribute) and node.attr == attribute for node in parts)


def _has_attribute(function: Any, pattern: re.Pattern[str]) -> bool:
    """Return True if the source reads an attribute of such a name."""
    return any(
        isinstance(node, ast.Attribute) and pattern.fullmatch(node.attr) for node in nodes(function)
    )


@lru_cache(maxsize=64)
def iterations(function: Any) -> Iteration | None:
    """The loop of forward that improves on a value; None if there is none.

    What it has not converged to has another derivative than what it converges to, and backward may
    be that of the latter, unless it goes back through the rounds.
    """
    if _goes_back(function):
        return None
    method = forward_of(function)
    found = [node for each in with_helpers(method) for node in nodes(each) if _improves(node)]
    counts = {
        name.id
        for node in found
        if isinstance(node, ast.For)
        for name in ast.walk(node.iter)
        if isinstance(name, ast.Name)
    }
    constants = {
        n.value
        for node in found
        if isinstance(node, ast.For)
        for n in ast.walk(node.iter)
        if isinstance(n, ast.Constant) and type(n.value) is int
    }
    brackets = any(map(_is_choice, (each for node in found for each in ast.walk(node))))
    return Iteration(frozenset(counts), frozenset(constants), brackets) if found else None


def _is_choice(node: ast.AST) -> bool:
    """Return True for a call of ``where``, which chooses the half to look for a solution in."""
    return isinstance(node, ast.Attribute) and node.attr == "where"


class Iteration(msgspec.Struct, frozen=True):
    """A loop that improves on a value."""

    counts: frozenset[str]
    """Names that say how often."""
    constants: frozenset[int] = frozenset()
    """Numbers that say it."""
    brackets: bool = False
    """It looks for a solution between bounds."""


def with_helpers(method: Any) -> Iterator[Any]:
    """A method, and the functions of its module and of its class that it names."""
    yield method
    inner = inspect.unwrap(method)
    space = getattr(inner, "__globals__", {})
    owner = space.get(getattr(inner, "__qualname__", "").partition(".")[0])
    for name in getattr(getattr(inner, "__code__", None), "co_names", ()):
        for each in (space.get(name), vars(owner).get(name) if inspect.isclass(owner) else None):
            each = getattr(each, "__func__", each)
            if inspect.isfunction(each) and each is not inner:
                yield each


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


def _goes_back(function: Any) -> bool:
    """Return True if backward has a loop from the last to the first, as over rounds of forward."""
    methods = with_helpers(function.backward) if hasattr(function, "backward") else ()
    return any(
        isinstance(node, ast.For) and any(map(_is_reverse, ast.walk(node.iter)))
        for each in methods
        for node in nodes(each)
    )


def _is_reverse(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="reversed")):
            return True
        case ast.Call(func=ast.Name(id="range"), args=[_, _, step]) | ast.Slice(step=step):
            return isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)
    return False


def _reads(body: Sequence[ast.stmt], names: Collection[str]) -> bool:
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
        for statement in body
        for node in ast.walk(statement)
    )


def ends_of_ranges(function: Any) -> set[str]:
    """The names that are ends of a ``range``: numbers of rounds, not places."""
    ends = [end for args in ranges(function) for end in args]
    attributes = {end.attr for end in ends if isinstance(end, ast.Attribute)}  # of the context
    return attributes | {end.id for end in ends if isinstance(end, ast.Name)}


def ranges(function: Any) -> Iterator[list[ast.expr]]:
    """The arguments of each call of ``range``."""
    for node in nodes(function):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "range":
            yield node.args


def asks_for_needed(function: Any) -> bool:
    """Return True if backward reads which gradients are needed."""
    return _has_attribute(function, _NEEDED)


def asked_for(function: Any) -> set[int]:
    """The positions of the arguments of which backward asks whether a gradient is needed."""
    return {
        node.slice.value
        for node in nodes(getattr(function, "backward", function))
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute)
        if node.value.attr == "needs_input_grad" and isinstance(node.slice, ast.Constant)
        if isinstance(node.slice.value, int)
    }


def step_of_integers(function: Any) -> int:
    """Return 2 where the source speaks of odd or even numbers, or takes them in pairs, else 1."""
    method = forward_of(function)
    helpers = [tree for each in with_helpers(method) for tree in trees(each)]
    if wording(function).speaks_of_parity or any(_takes_pairs(tree) for tree in helpers):
        return 2
    return 2 if any(speaks_of_parity(ast.unparse(tree)) for tree in helpers) else 1


def _takes_pairs(tree: ast.AST) -> bool:
    """Return True for code that takes every second entry, from both the first and the second one.

    Or up to a number that has a name.
    """
    slices = [
        node
        for node in walked(tree)
        if isinstance(node, ast.Slice)
        and isinstance(node.step, ast.Constant)
        and node.step.value == 2
    ]
    starts = {ast.unparse(node.lower) if node.lower else "0" for node in slices}
    return {"0", "1"} <= starts or any(isinstance(node.upper, ast.Name) for node in slices)


def words(function: Any, given: Mapping[str, Any]) -> dict[str, list[str | None]]:
    """For each name the strings that the source compares it with, or looks it up by.

    Those that docstrings quote count for an argument of which they quote the value in `given`, and
    so does None where they say that it may stand for one of them.
    """
    found: dict[str, list[str | None]] = defaultdict(list)
    for node in nodes(function):
        for name, each in _words_at(node, function):
            found[name] += each
    documented: list[str | None] = [*wording(function).quoted]
    for known in found.values():
        # One of several words may be what is left after all comparisons.
        known += documented if set(documented) & set(known) else []
        known += sorted(_REDUCTIONS) if "none" in known and _REDUCTIONS & set(known) else []
    for name, value in given.items():
        if isinstance(value, str) and value in documented:
            found[name] += [*documented, *([None] if wording(function).may_quote_none else [])]
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
        case ast.Call(func=ast.Attribute(attr=operation), keywords=keywords):
            for keyword in keywords:
                yield from _of_name(keyword.value, _words_of_torch(operation, keyword.arg))
        case ast.arg(arg=name, annotation=ast.Subscript(value=ast.Name(id="Literal")) as literal):
            yield name, _strings(literal)


def _words_of_torch(operation: str, keyword: str | None) -> list[str]:
    """The strings that an operation of PyTorch takes for a keyword."""
    return [
        word
        for name, operations, found in _KEYWORDS
        if name == keyword and re.fullmatch(operations, operation)
        for word in found
    ]


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
            method = inspect.unwrap(forward_of(function))
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

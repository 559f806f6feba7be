"""Uses that show a plain value: in forward, and in backward of what the context keeps for it.

A parameter that is only the condition of an ``if`` is a flag, one that ends a ``range`` is a
number, and one that is called is a function, also where ``ctx.steps = steps`` comes between.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from gradtool.adapters.common.parsed_source import walked

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_TEST, _RANGE, _CALL, _NUMBER, _OTHER = "test", "range", "call", "number", "other"
"""Kinds of uses."""


class PlainUses(msgspec.Struct, frozen=True):
    """Names of parameters, by how they are used wherever they are."""

    tested: frozenset[str] = frozenset()
    """The condition of an ``if``, and nothing else."""
    counts: frozenset[str] = frozenset()
    """The end of a range."""
    numbers: frozenset[str] = frozenset()
    """Given to what takes a number: ``torch.tensor(sigma)``, ``math.sqrt(d)``."""
    called: frozenset[str] = frozenset()
    """By forward; or by backward alone, for the slope of a surrogate."""
    adjoints: frozenset[str] = frozenset()
    """Called by backward with a cotangent, in which they are linear then."""
    slopes: frozenset[str] = frozenset()
    """Called by backward alone, with a tensor that forward saved: the slope of a surrogate."""
    derivatives: frozenset[str] = frozenset()
    """Called by backward in the same way, where forward calls another one."""
    anything: frozenset[str] = frozenset()
    """Used in some way beside being kept on the context."""
    attributes: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """The attributes that backward takes of them, by parameter."""
    methods: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """Those attributes that it calls."""


class _Seen(msgspec.Struct):
    kinds: dict[str, set[str]] = msgspec.field(default_factory=dict)
    """The kinds of uses by parameter."""
    kept: dict[str, str] = msgspec.field(default_factory=dict)
    """Parameters by the attributes of the context that keep them."""


def plain_uses(
    names: Collection[str], forwards: list[FunctionNode], backward: FunctionNode | None
) -> PlainUses:
    """Read how parameters are used.

    Args:
        names: The parameters.
        forwards: The bodies that name them: forward, and setup_context.
        backward: The method that reads them from the context.
    """
    seen = _Seen()
    for node in forwards:
        # Forward may use what it keeps by its place on the context.
        for name, kind in [*_uses(node, seen.kept), *_uses(node, {}, seen.kept)]:
            seen.kinds.setdefault(name, set()).add(kind)
    called = frozenset(name for name in names if _CALL in seen.kinds.get(name, ()))
    adjoints: frozenset[str] = frozenset()
    slopes: frozenset[str] = frozenset()
    derivatives: frozenset[str] = frozenset()
    attributes: dict[str, frozenset[str]] = {}
    methods: dict[str, frozenset[str]] = {}
    if backward is not None:
        stand_for = {**seen.kept, **_aliases(backward, seen.kept)}
        for name, kind in _uses(backward, {}, stand_for):
            seen.kinds.setdefault(name, set()).add(kind)
        attributes = _attributes(walked(backward), stand_for)
        called_in = (each.func for each in walked(backward) if isinstance(each, ast.Call))
        methods = _attributes(called_in, stand_for)
        # If forward calls one too, this one may be its derivative.
        others, adjoints = _called_in_backward(backward, stand_for)
        alone = _called_with_saved(backward, stand_for) - adjoints - called
        slopes, derivatives = (frozenset(), alone) if called else (alone, frozenset())
        called = called or others
    kinds = {name: seen.kinds[name] for name in names if name in seen.kinds}
    return PlainUses(
        tested=frozenset(name for name in kinds if kinds[name] == {_TEST}),
        counts=frozenset(name for name in kinds if _RANGE in kinds[name]),
        numbers=frozenset(name for name in kinds if _NUMBER in kinds[name]),
        called=called,
        adjoints=adjoints,
        slopes=slopes,
        derivatives=derivatives,
        anything=frozenset(kinds),
        attributes=attributes,
        methods=methods,
    )


def _uses(
    node: FunctionNode, kept: dict[str, str], names: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield each use of a name with its kind; those that only keep it on the context go to `kept`.

    Args:
        node: The body.
        kept: Attributes of the context, to which those that are assigned here are added.
        names: Where names differ from those of parameters: these, and attributes of the context,
            with the parameters that they stand for. No other names are then yielded.
    """
    together = dict(_kept_together(node))
    kept |= {attribute: value.id for attribute, value in together.items()}
    others = (value for _, value in _renamed(node))
    renamed = {id(value) for value in (*others, *together.values())}
    ends = {id(end) for end in _shifted_ends(node)}
    for parent in walked(node):
        for child in ast.iter_child_nodes(parent):
            name = _name(child, names)
            if name is None or id(child) in renamed or _keeps(parent, child, kept):
                continue
            yield name, _RANGE if id(parent) in ends else _kind(parent, child)


def _shifted_ends(node: FunctionNode) -> Iterator[ast.BinOp]:
    """Yield the ends of ranges that are a number away from a name: ``range(1, steps + 1)``."""
    for call in walked(node):
        match call:
            case ast.Call(func=ast.Name(id="range"), args=ends):
                for end in ends:
                    if isinstance(end, ast.BinOp) and isinstance(end.right, ast.Constant):
                        yield end


def _name(node: ast.AST, names: Mapping[str, str] | None) -> str | None:
    """The parameter that an expression stands for."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return node.id if names is None else names.get(node.id)
    if names is not None and isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return names.get(ast.unparse(node))
    return None


def _keeps(parent: ast.AST, child: ast.AST, kept: dict[str, str]) -> bool:
    """Note ``ctx.steps = steps``; return True for it, and for a name that only gets another."""
    if not isinstance(parent, ast.Assign) or parent.value is not child:
        return False
    for target in parent.targets:
        if isinstance(target, ast.Attribute) and isinstance(child, ast.Name):
            kept[ast.unparse(target)] = child.id
    return all(isinstance(target, ast.Attribute | ast.Name) for target in parent.targets)


def _aliases(node: FunctionNode, kept: Mapping[str, str]) -> dict[str, str]:
    """Local names for what the context keeps: ``steps = ctx.steps``."""
    return {
        target: kept[ast.unparse(value)]
        for target, value in _renamed(node)
        if ast.unparse(value) in kept
    }


def _renamed(node: FunctionNode) -> Iterator[tuple[str, ast.expr]]:
    """Yield local names with what they are given, also by ``a, b = ctx.a, ctx.b``."""
    assignments = (each for each in walked(node) if isinstance(each, ast.Assign))
    for found in assignments:
        for target in found.targets:
            pairs = _pairs(target, found.value)
            yield from ((name.id, value) for name, value in pairs if isinstance(name, ast.Name))


def _kept_together(node: FunctionNode) -> Iterator[tuple[str, ast.Name]]:
    """Yield attributes with the names that ``ctx.a, ctx.b = a, b`` gives them."""
    for found in walked(node):
        if isinstance(found, ast.Assign) and isinstance(found.targets[0], ast.Tuple):
            for target, value in _pairs(found.targets[0], found.value):
                if isinstance(target, ast.Attribute) and isinstance(value, ast.Name):
                    yield ast.unparse(target), value


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    match target, value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            yield from zip(targets, values, strict=True)
        case _:
            yield target, value


def _attributes(
    nodes: Iterable[ast.AST], stand_for: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in stand_for:
            found.setdefault(stand_for[ast.unparse(node.value)], set()).add(node.attr)
    return {name: frozenset(attributes) for name, attributes in found.items()}


def _called_in_backward(
    backward: FunctionNode, stand_for: Mapping[str, str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Functions that compute from anything but a cotangent, and those that compute from one."""
    cotangents = {argument.arg for argument in backward.args.args[1:]}
    for node in walked(backward):
        if isinstance(node, ast.Assign) and _names(node.value) & cotangents:
            cotangents.update(*map(_names, node.targets))
    found: dict[bool, set[str]] = {False: set(), True: set()}
    for call in walked(backward):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in stand_for:
            of_cotangent = any(_names(argument) & cotangents for argument in call.args)
            found[of_cotangent].add(stand_for[ast.unparse(call.func)])
    return frozenset(found[False]), frozenset(found[True])


def _called_with_saved(backward: FunctionNode, stand_for: Mapping[str, str]) -> frozenset[str]:
    """Functions that get a tensor which forward saved."""
    saved = {
        name
        for node in walked(backward)
        if isinstance(node, ast.Assign) and ast.unparse(node.value).endswith(".saved_tensors")
        for target in node.targets
        for name in _names(target)
    }
    return frozenset(
        stand_for[ast.unparse(call.func)]
        for call in walked(backward)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in stand_for
        if any(_names(argument) & saved for argument in call.args)
    )


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _kind(parent: ast.AST, child: ast.AST) -> str:
    match parent:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if test is child:
            return _TEST
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
            return _TEST
        case ast.Call(func=func) if func is child:
            return _CALL
        case ast.Call(func=ast.Name(id="range")):
            return _RANGE
        case ast.Call(func=ast.Name(id="float" | "int" | "round")):
            return _NUMBER
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))):
            return _NUMBER
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="tensor")):
            return _NUMBER
    return _OTHER

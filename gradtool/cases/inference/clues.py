"""Clues in a Function's source about its arguments, for names that say nothing.

``ctx.save_for_backward(x)`` shows a tensor; ``ctx.k = k`` with a backward that returns
None for ``k`` shows a plain value. Clues only order the search; ``forward`` decides by
accepting or refusing arguments. Without source there are none.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gradtool.adapters.common.parsed_source import walked
from gradtool.cases.inference.balls import within_ball
from gradtool.cases.inference.bounds import (
    PLAIN_HIGH,
    PLAIN_LOW,
    clamp_bounds,
    clamped_domains,
    interval_bounds,
    ranges,
    side,
)
from gradtool.cases.inference.documentation import (
    contractions,
    documentation,
    extents_for,
    integers,
    stated_ranges,
)
from gradtool.cases.inference.helpers import definition
from gradtool.cases.inference.plain_uses import FunctionNode, PlainUses, plain_uses
from gradtool.cases.inference.quantizers import (
    levels,
    ranges_beside_levels,
    ranges_of_quantizers,
)
from gradtool.cases.inference.uses import name_behind

_KEEPERS = {"save_for_backward", "save_for_forward", "mark_dirty"}


class Clues(msgspec.Struct, frozen=True):
    """Names of parameters, by what the source does with them."""

    tensors: frozenset[str] = frozenset()
    """Saved, or used through an attribute such as ``x.shape`` or ``x.mm``."""
    plain: frozenset[str] = frozenset()
    """Kept as an attribute of ctx, with nothing that shows a tensor."""
    undifferentiated: frozenset[str] = frozenset()
    """Every return of backward has a literal None in their place."""
    differentiated: frozenset[str] = frozenset()
    """Every return of backward has another expression in their place."""
    documented: Mapping[str, tuple[int, ...]] = msgspec.field(default_factory=dict)
    """Shapes as the docstrings state them."""
    integers: frozenset[str] = frozenset()
    """The docstrings call them tensors of integers."""
    dtypes: frozenset[str] = frozenset()
    """Given as a dtype: ``x.to(dtype)``, which would take a tensor too, or ``dtype=dtype``."""
    uses: PlainUses = msgspec.field(default_factory=PlainUses)
    """Flags, counts and functions."""
    unnamed: frozenset[str] = frozenset()
    """Neither forward nor `setup_context` names them."""
    unpacked: frozenset[str] = frozenset()
    """Forward unpacks them: ``x, scale = pair``."""
    within: Mapping[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    """Ranges that clamps or docstrings show, and of matrices that contract."""
    passed: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """Flags, numbers of iterations and tolerances, as calls of the Function give, tuples, the last
    levels of quantizers, and bounds of intervals.
    """
    single: frozenset[str] = frozenset()
    """Their gradient is one number: backward sums over all entries and expands to their shape."""

    def range_of(self, name: str) -> tuple[float, float] | None:
        """Return a range for the values of a parameter, by its uses or else by its name."""
        return self.within.get(name) or side(name)


class _Seen(msgspec.Struct):
    saved: set[str] = msgspec.field(default_factory=set)
    attributes: set[str] = msgspec.field(default_factory=set)
    kept: set[str] = msgspec.field(default_factory=set)
    dtypes: set[str] = msgspec.field(default_factory=set)
    unpacked: set[str] = msgspec.field(default_factory=set)


def read_clues(function: Any, names: tuple[str, ...]) -> Clues:
    """Read clues about the parameters `names` of a Function class or a plain callable."""
    if not isinstance(function, type):
        node = _source(function)
        return Clues(tensors=frozenset(_use(node).attributes & set(names)) if node else frozenset())
    cls: Any = function
    bodies = _source(cls.forward), _context(cls, names)
    forward, context = map(_use, bodies)
    backward = _source(_backward(cls))
    none = set(always_none(backward, names)) if backward else set()
    given = set(_given(backward, names)) - none if backward else set()
    differentiated = set(names) - none if backward and _returns(backward) else set()
    tensors = forward.saved | context.saved | forward.attributes
    plain = (forward.kept | context.kept) - tensors - differentiated
    # An attribute such as `like.dtype` shows a tensor whose dtype is taken.
    dtypes = forward.dtypes - tensors
    documented = documentation(cls)
    uses = plain_uses(names, [body for body in bodies if body], backward)
    return Clues(
        tensors=frozenset(tensors & set(names)),
        plain=frozenset(plain & set(names)),
        undifferentiated=frozenset(none & set(names)),
        differentiated=frozenset(given),
        documented=extents_for(documented, names),
        integers=integers(documented, names),
        dtypes=frozenset(dtypes & set(names)),
        uses=uses,
        unnamed=frozenset(_unnamed(bodies, names)),
        unpacked=frozenset(forward.unpacked & set(names)),
        passed={
            **(_numbers(bodies[0], none - tensors) if bodies[0] else {}),
            **_of_group(names),
        },
        single=frozenset(_expanded_from_sum(bodies, backward, names)) if backward else frozenset(),
        within={
            **within_ball(f"{cls.__module__} {documented}", names),
            **contractions(documented, names),
            **stated_ranges(documented, names),
            **(_clamped(bodies[0], names) if bodies[0] else {}),
        },
    )


def _expanded_from_sum(
    forwards: Iterable[FunctionNode | None], backward: FunctionNode, names: Collection[str]
) -> Iterator[str]:
    """Yield the `names` of ``g.sum().expand_as(name)``, also of those that were saved."""
    saved = [each for body in forwards if body for each in _saved(body)]
    behind = {**_unpacked(backward, saved), **{name: name for name in names}}
    for found in walked(backward):
        match found:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Call(func=ast.Attribute(attr="sum"), args=[], keywords=[]),
                    attr="expand_as",
                ),
                args=[ast.Name(id=name)],
            ) if behind.get(name) in names:
                yield behind[name]


def _saved(body: FunctionNode) -> list[str]:
    """The names of what is saved, in their order; empty for what has none."""
    for found in walked(body):
        match found:
            case ast.Call(func=ast.Attribute(attr="save_for_backward"), args=args):
                return [name_behind(each, {"clone", "detach"}) or "" for each in args]
    return []


def _unpacked(backward: FunctionNode, saved: list[str]) -> dict[str, str]:
    """The names that backward gives to what is saved, with those that forward has for it."""
    for found in walked(backward):
        match found:
            case ast.Assign(
                targets=[ast.Tuple(elts=parts)], value=ast.Attribute(attr="saved_tensors")
            ) if len(parts) == len(saved):
                pairs = zip(parts, saved, strict=True)
                return {part.id: name for part, name in pairs if isinstance(part, ast.Name)}
    return {}


def _numbers(body: FunctionNode, names: Collection[str]) -> dict[str, float]:
    """Numbers for plain values that have no gradient: levels, and bounds of intervals."""
    found: dict[str, float] = dict(levels(body, names))
    for low, high in interval_bounds(body, names):
        found |= {low: PLAIN_LOW, high: PLAIN_HIGH}
    return found


def _of_group(names: Collection[str]) -> dict[str, int]:
    """The number of processes, of which there is one; alone, a group is one of numbers."""
    is_given = any(re.fullmatch(r"(.*_)?(group(_name)?|pg)", name) for name in names)
    return {"group_size": 1} if is_given else {}


def _clamped(body: FunctionNode, names: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """The ranges that the clamps, intervals and rounding of a body show."""
    return {
        **ranges_beside_levels(names),
        **ranges([*clamp_bounds(body, names), *interval_bounds(body, names)]),
        **dict(clamped_domains(body, names)),
        **ranges_of_quantizers(body, names),
    }


def _backward(function: Any) -> Any:
    """The method that computes gradients, defined as ``backward`` or as ``vjp``."""
    # By the order of the classes: a subclass may define vjp where its base has backward.
    own = [name for cls in function.__mro__ for name in ("backward", "vjp") if name in vars(cls)]
    return getattr(function, own[0], None) if own else None


def _source(function: Any) -> FunctionNode | None:
    """Parse the definition of `function`; None without source."""
    _, statement = definition(function)
    return statement if isinstance(statement, FunctionNode) else None


def _context(function: Any, names: tuple[str, ...]) -> FunctionNode | None:
    """``setup_context`` with its names for the inputs replaced by those of ``forward``."""
    node = _source(function.setup_context)
    if node is None or len(node.args.args) < 2:
        return None
    inputs = node.args.args[1].arg
    renamed = {}
    for statement in walked(node):
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Name(id=source)) if (
                source == inputs
            ):
                renamed = {
                    target.id: name
                    for target, name in zip(targets, names, strict=False)
                    if isinstance(target, ast.Name)
                }
    node = copy.deepcopy(node)
    for found in walked(node):
        if isinstance(found, ast.Name):
            found.id = renamed.get(found.id, found.id)
    return node


def _unnamed(bodies: Sequence[FunctionNode | None], names: Iterable[str]) -> set[str]:
    if bodies[0] is None:
        return set()
    nodes = (node for body in bodies if body for node in walked(body))
    return set(names) - {node.id for node in nodes if isinstance(node, ast.Name)}


def _use(node: FunctionNode | None) -> _Seen:
    """Collect the names that the body of `node` saves, keeps or takes attributes of."""
    seen = _Seen()
    for found in walked(node) if node else ():
        match found:
            case ast.Call(func=ast.Attribute(attr=method), args=args) if method in _KEEPERS:
                seen.saved.update(arg.id for arg in args if isinstance(arg, ast.Name))
            case ast.Attribute(value=ast.Name(id=name)):
                seen.attributes.add(name)
            case ast.Assign(targets=[ast.Tuple()], value=ast.Name(id=name)):
                seen.unpacked.add(name)
            case ast.Assign(targets=[ast.Attribute()], value=ast.Name(id=name)):
                seen.kept.add(name)
            case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Name(id=name)]):
                seen.dtypes.add(name)
            case ast.keyword(arg="dtype", value=ast.Name(id=name)):
                seen.dtypes.add(name)
    return seen


def _returns(node: FunctionNode) -> list[list[ast.expr]]:
    """Entries of each return statement of `node`."""
    values = [found.value for found in walked(node) if isinstance(found, ast.Return)]
    return [value.elts if isinstance(value, ast.Tuple) else [value] for value in values if value]


def always_none(node: FunctionNode, names: Iterable[str]) -> Iterator[str]:
    """Yield the `names` for which every return has None, or a local name that is always None."""
    empty = _only_none(node)
    for name, entries in _by_name(node, names):
        if entries and all(_is_none(entry, empty) for entry in entries):
            yield name


def _given(node: FunctionNode, names: Iterable[str]) -> Iterator[str]:
    """Yield the `names` for which no return has None."""
    for name, entries in _by_name(node, names):
        if entries and not any(_is_none(entry, set()) for entry in entries):
            yield name


def _by_name(node: FunctionNode, names: Iterable[str]) -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield each of `names` with the entries that the returns have in its place."""
    returns = _returns(node)
    # A starred entry moves the positions of all that follow.
    if any(isinstance(entry, ast.Starred) for entries in returns for entry in entries):
        return
    for position, name in enumerate(names):
        yield name, [entries[position] for entries in returns if position < len(entries)]


def _only_none(node: FunctionNode) -> set[str]:
    """Local names that only None is assigned to."""
    assigned: dict[str, bool] = {}
    for found in walked(node):
        if isinstance(found, ast.Assign):
            none = isinstance(found.value, ast.Constant) and found.value.value is None
            for target in found.targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        assigned[name.id] = assigned.get(name.id, True) and none
    return {name for name, none in assigned.items() if none}


def _is_none(entry: ast.expr, empty: set[str]) -> bool:
    if isinstance(entry, ast.Constant):
        return entry.value is None
    return isinstance(entry, ast.Name) and entry.id in empty

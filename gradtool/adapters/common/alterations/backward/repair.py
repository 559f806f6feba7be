"""A repair of a backward: one of its nodes, what stands in its place, and what is told of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

import msgspec

from gradtool.adapters.common.alterations.definitions import Function
from gradtool.adapters.common.alterations.shown_code import code_of, shortened
from gradtool.adapters.common.alterations.trees import replaced
from gradtool.verify.protocol import observation

Place = tuple[ast.expr, ast.AST]
"""An expression, and the node to show of a change of it."""


class Repair(msgspec.Struct, frozen=True):
    """A node of a backward's tree, what stands in its place, and the expression to show."""

    node: ast.AST
    made: ast.AST
    around: ast.AST
    """The node, or the expression or statement that it is a part of."""
    is_factor: bool = False
    """It multiplies or divides by something, or may do so by another number."""
    others: tuple[ast.AST, ...] = ()
    """More nodes that are replaced likewise."""
    also: tuple[tuple[ast.AST, ast.AST], ...] = ()
    """More nodes, each with what stands in its place."""
    other: str = ""
    """What stands in its place, where the source of `made` does not say it."""
    words: str = ""
    """What makes backward right, where an expression in place of another does not say it."""
    line_of_forward: int | None = None
    """The line that computes it in forward; None for a repair that takes nothing from there."""
    scale: float | None = None
    """How many times as large a number is made."""
    nudged: float | None = None
    """The number that is made a little larger, to see what another one would do."""
    opens: bool | None = None
    """It makes all of a mask true, or false."""

    @property
    def changes(self) -> dict[ast.AST, ast.AST]:
        """Each node that is replaced, with what stands in its place."""
        return dict.fromkeys((self.node, *self.others), self.made) | dict(self.also)


def made_by(
    family: Callable[[ast.expr], Iterator[ast.expr]],
    places: Iterable[Place],
    *,
    is_factor: bool = False,
) -> Iterator[Repair]:
    """Yield the repairs that put what a family makes of an expression in its place."""
    for node, around in places:
        for made in family(node):
            yield Repair(node, made, around, is_factor=is_factor)


def described(function: Function, repair: Repair, number: int) -> observation.Repair:
    """Return a repair of a function, the `number`-th that is found, as a finding tells of it."""
    around = repair.around
    code, new = code_of(around), repair.other or code_of(_new(repair))
    return observation.Repair(
        path=function.__code__.co_filename,
        lines=_lines(function, repair),
        code=shortened(code, new),
        other="" if isinstance(repair.made, ast.Pass) else shortened(new, code),
        number=number,
        is_factor=repair.is_factor,
        line_of_forward=repair.line_of_forward,
        scale=repair.scale,
        nudged=repair.nudged,
        words=repair.words,
        opens=repair.opens,
    )


def _new(repair: Repair) -> ast.AST:
    """The expression to show, as it is then."""
    is_whole = repair.around is repair.node
    return repair.made if is_whole else replaced(repair.around, {repair.node: repair.made})


def _lines(function: Function, repair: Repair) -> tuple[int, ...]:
    first = function.__code__.co_firstlineno
    nodes = (repair.around, *repair.others, *(node for node, _ in repair.also))
    return tuple(sorted({getattr(node, "lineno", first) for node in nodes}))

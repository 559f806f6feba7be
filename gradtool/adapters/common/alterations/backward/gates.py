"""Repairs that open and close a mask, to see in which entries it ought to be true."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.trees import parsed

_ORDERS = ast.Gt | ast.GtE | ast.Lt | ast.LtE | ast.Eq | ast.NotEq


def gates(backward: Backward) -> Iterator[Repair]:
    """Make all of a mask true, and all of it false."""
    for node, _ in backward.places:
        if _is_mask(node, backward):
            code = ast.unparse(node)
            for opens, made in ((True, f"({code}) | True"), (False, f"({code}) & False")):
                yield Repair(node, parsed(made), node, opens=opens)


def _is_mask(node: ast.expr, backward: Backward) -> bool:
    match node:
        case ast.Compare(ops=[op]):
            return isinstance(op, _ORDERS)
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            return True
        case ast.Name():
            value = backward.array(node)
            return value is not None and value.dtype.kind == "b"
    return False

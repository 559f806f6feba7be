"""Repairs by which a factor comes before another step, or after it."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.held import fits
from gradtool.adapters.common.alterations.noted_values import Value
from gradtool.adapters.common.alterations.shown_code import shortened
from gradtool.adapters.common.alterations.trees import replaced
from gradtool.verify.thresholds.edits import MOVED_FACTORS_MOST

Taker = ast.Name | ast.BinOp
"""An expression that may be given a factor."""


def moved_factors(backward: Backward) -> Iterator[Repair]:
    """Take a factor from one product and give it to another expression."""
    takers = [n for n in backward.nodes if isinstance(n, Taker) and n in backward.values]
    for product, taker in itertools.islice(_pairs(backward, takers), MOVED_FACTORS_MOST):
        yield _moved(product, taker, ())
        alike = [n for n in takers if n is not taker and ast.dump(n) == ast.dump(taker)]
        if alike and isinstance(taker, ast.Name) and not any(_overlap(product, n) for n in alike):
            yield _moved(product, taker, alike)


def _pairs(backward: Backward, takers: Sequence[Taker]) -> Iterator[tuple[ast.BinOp, Taker]]:
    """The products, each with the expressions that may have its factor instead."""
    values = backward.values
    for product in backward.nodes:
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult | ast.Div):
            for taker in takers if product.right in values else ():
                fitting = _may_take(values[product.right], values[taker])
                if fitting and not _overlap(product, taker):
                    yield product, taker


def _may_take(factor: Value, taker: Value) -> bool:
    """Return True for a factor of several entries that leaves the shape of a tensor."""
    several = isinstance(factor, np.ndarray) and isinstance(taker, np.ndarray) and factor.size > 1
    return several and fits(factor.shape, taker.shape)


def _overlap(product: ast.BinOp, taker: ast.expr) -> bool:
    inside = taker is product.left or taker in ast.walk(product.right)
    return inside or product in ast.walk(taker)


def _moved(product: ast.BinOp, taker: ast.expr, others: Sequence[ast.AST]) -> Repair:
    factor, owner = product.right, product.left
    made = ast.BinOp(taker, product.op, factor)
    verb = "multiplying" if isinstance(product.op, ast.Mult) else "dividing"
    what, by, other = (shortened(ast.unparse(each)) for each in (taker, factor, owner))
    words = f"`{by}` {verb} `{what}`, not `{other}`"
    if any(each in ast.walk(owner) for each in (taker, *others)):
        # The product is replaced by what is left of it, in which the factor is elsewhere.
        owner = replaced(owner, dict.fromkeys((taker, *others), made))
    return Repair(
        taker,
        made,
        taker,
        is_factor=True,
        others=tuple(others),
        also=((product, owner),),
        words=words,
    )

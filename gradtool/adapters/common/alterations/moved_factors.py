"""Edits of a backward by which a factor comes before another step, or after it."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradtool.adapters.common.alterations.altered_code import shortened
from gradtool.adapters.common.alterations.edits import replaced
from gradtool.adapters.common.alterations.held import fits
from gradtool.adapters.common.alterations.noted_values import Value
from gradtool.adapters.common.alterations.omissions import Edit
from gradtool.verify.thresholds.edits import MOVED_FACTORS_MOST


def moved_factors(nodes: Sequence[ast.expr], values: Mapping[ast.AST, Value]) -> Iterator[Edit]:
    """Yield the edits that take a factor from one product and give it to another expression."""
    products = [
        n for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult | ast.Div)
    ]
    takers = [n for n in nodes if isinstance(n, ast.Name | ast.BinOp) and n in values]
    pairs = (
        (product, taker)
        for product in products
        for taker in takers
        if product.right in values
        and _may_take(values[product.right], values[taker])
        and not _overlap(product, taker)
    )
    for product, taker in itertools.islice(pairs, MOVED_FACTORS_MOST):
        yield _moved(product, taker, ())
        alike = [n for n in takers if n is not taker and ast.dump(n) == ast.dump(taker)]
        if alike and isinstance(taker, ast.Name) and not any(_overlap(product, n) for n in alike):
            yield _moved(product, taker, alike)


def _may_take(factor: Value, taker: Value) -> bool:
    """Return True for a factor of several entries that leaves the shape of a tensor."""
    several = isinstance(factor, np.ndarray) and isinstance(taker, np.ndarray) and factor.size > 1
    return several and fits(factor.shape, taker.shape)


def _overlap(product: ast.BinOp, taker: ast.expr) -> bool:
    inside = taker is product.left or taker in ast.walk(product.right)
    return inside or product in ast.walk(taker)


def _moved(product: ast.BinOp, taker: ast.expr, others: Sequence[ast.AST]) -> Edit:
    factor, owner = product.right, product.left
    made = ast.BinOp(taker, product.op, factor)
    verb = "multiplying" if isinstance(product.op, ast.Mult) else "dividing"
    what, by, other = (shortened(ast.unparse(each)) for each in (taker, factor, owner))
    words = f"`{by}` {verb} `{what}`, not `{other}`"
    if any(each in ast.walk(owner) for each in (taker, *others)):
        # The product is replaced by what is left of it, in which the factor is elsewhere.
        owner = replaced(owner, dict.fromkeys((taker, *others), made))
    return Edit(
        taker,
        made,
        taker,
        is_factor=True,
        others=tuple(others),
        also=((product, owner),),
        words=words,
    )

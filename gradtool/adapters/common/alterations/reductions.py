"""Sums and means of a backward, and factors that are sums of its variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.edits import parsed
from gradtool.adapters.common.alterations.held import Held


def masked_means(node: ast.expr, held: Held) -> Iterator[ast.expr]:
    """A mean over the entries that a mask or weight chooses, in the place of one over all."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="mean"), args=args, keywords=keywords):
            for name in held.like(value):
                mask = parsed(name)
                total, count = (
                    ast.Call(ast.Attribute(each, "sum", ast.Load()), args, keywords)
                    for each in (value, mask)
                )
                yield ast.BinOp(total, ast.Div(), count)


def unbiased_means(node: ast.expr) -> Iterator[ast.expr]:
    """A sum over one less than the number of entries, as a sample variance has, for a mean."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=value, attr="mean"),
            args=[ast.Constant() | ast.UnaryOp() as axis],
            keywords=keywords,
        ):
            total = ast.Call(ast.Attribute(value, "sum", ast.Load()), [axis], keywords)
            code = f"({ast.unparse(value)}).shape[{ast.unparse(axis)}] - 1"
            yield ast.BinOp(total, ast.Div(), parsed(code))


def summed_factors(node: ast.expr, held: Held) -> Iterator[ast.expr]:
    """A factor or divisor more that is the sum of a variable."""
    for name in held.like(node):
        for code in (f"{name}.sum(-1, keepdim=True)", f"{name}.sum()"):
            total = parsed(code)
            yield ast.BinOp(node, ast.Mult(), total)
            yield ast.BinOp(node, ast.Div(), total)


def kept_dims(node: ast.expr) -> Iterator[ast.expr]:
    """A reduction that keeps the dims that it reduces, or does not keep them."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords) if (
            name in _REDUCTIONS and (args or keywords)
        ):
            others = [each for each in keywords if each.arg != "keepdim"]
            if len(others) == len(keywords):
                others = [*keywords, ast.keyword("keepdim", ast.Constant(True))]
            yield ast.Call(node.func, args, others)


_REDUCTIONS = frozenset({"amax", "amin", "logsumexp", "mean", "norm", "prod", "std", "sum", "var"})

"""Repairs of sums and means, of what is divided by a count, and of factors that are sums."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair, made_by
from gradtool.adapters.common.alterations.held import Held
from gradtool.adapters.common.alterations.trees import parsed

_REDUCTIONS = frozenset({"amax", "amin", "logsumexp", "mean", "norm", "prod", "std", "sum", "var"})


def masked_means(node: ast.expr, held: Held) -> Iterator[ast.expr]:
    """Yield means over the entries that a mask or weight chooses, in the place of one over all."""
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
    """Yield a sum over one entry less, as a sample variance has, in the place of a mean."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=value, attr="mean"),
            args=[ast.Constant() | ast.UnaryOp() as axis],
            keywords=keywords,
        ):
            total = ast.Call(ast.Attribute(value, "sum", ast.Load()), [axis], keywords)
            code = f"({ast.unparse(value)}).shape[{ast.unparse(axis)}] - 1"
            yield ast.BinOp(total, ast.Div(), parsed(code))


def divisors(backward: Backward) -> Iterator[Repair]:
    """Put another count in the place of that by which something is divided."""
    for node in backward.nodes:
        match node:
            case ast.BinOp(left=left, op=ast.Div() as op, right=right):
                for name in backward.held.names:
                    if not isinstance(right, ast.Name):
                        yield Repair(node, ast.BinOp(left, op, parsed(name)), node)
                    yield Repair(node, ast.BinOp(left, op, parsed(f"{name}.sum()")), node)


def other_counts(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the number of all entries of a tensor, or along another dim, in the place of one."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=value, attr="shape"), slice=ast.Constant()):
            pass
        case ast.Call(func=ast.Attribute(value=value, attr="size"), args=[ast.Constant()]):
            pass
        case ast.Call(func=ast.Attribute(value=value, attr="numel"), args=[]):
            pass
        case ast.Call(func=ast.Name(id="len"), args=[value]):
            pass
        case _:
            return
    whole = ast.unparse(value)
    for code in (f"{whole}.numel()", f"{whole}.shape[0]", f"{whole}.shape[-1]"):
        if code != ast.unparse(node):
            yield parsed(code)


def summed_factors(backward: Backward) -> Iterator[Repair]:
    """Multiply or divide a variable or call by the sum of a variable."""
    held = backward.held
    summed = [each for each in backward.places if isinstance(each[0], ast.Name | ast.Call)]
    yield from made_by(lambda node: _times_and_over_sums(node, held), summed, is_factor=True)


def _times_and_over_sums(node: ast.expr, held: Held) -> Iterator[ast.expr]:
    for name in held.like(node):
        for code in (f"{name}.sum(-1, keepdim=True)", f"{name}.sum()"):
            total = parsed(code)
            yield ast.BinOp(node, ast.Mult(), total)
            yield ast.BinOp(node, ast.Div(), total)


def kept_dims(node: ast.expr) -> Iterator[ast.expr]:
    """Yield a reduction that keeps the dims that it reduces, or does not keep them."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords) if (
            name in _REDUCTIONS and (args or keywords)
        ):
            others = [each for each in keywords if each.arg != "keepdim"]
            if len(others) == len(keywords):
                others = [*keywords, ast.keyword("keepdim", ast.Constant(True))]
            yield ast.Call(node.func, args, others)

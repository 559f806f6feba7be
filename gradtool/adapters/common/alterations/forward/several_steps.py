"""Edits of functions that take several steps, such as a softmax, of which one is got wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from gradtool.adapters.common.alterations.altered_code import standin
from gradtool.adapters.common.alterations.forward.edit import Edit
from gradtool.adapters.common.alterations.trees import numeral
from gradtool.verify.protocol.observation import AlterationKind

_HELD_FACTORS: Mapping[str, str] = {
    "silu": "the sigmoid",
    "gelu": "the normal distribution",
    "mish": "the tanh",
    "hardswish": "the clipped line",
    "normalize": "the norm",
}
"""Functions that are their argument times a factor, and the name of the factor."""

_SHARES_OF_THE_SUM: Mapping[AlterationKind, int] = {"held": 0, "negated": -1}
"""The numbers by which the part of a derivative that goes through a sum is multiplied."""

_MODULES = frozenset({"torch", "F", "functional"})
"""The names under which a softmax is a function, and no method."""


def opened(node: ast.expr) -> Iterator[Edit]:
    """Yield the edits of a function by which one of its steps is held constant, or negated."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="softmax" | "log_softmax" as name)):
            # ``x.softmax(-1)``, or ``torch.softmax(x, -1)`` and its like.
            is_method = not (isinstance(owner, ast.Name) and owner.id in _MODULES)
            given = [owner, *node.args] if is_method else node.args
            dims = [*given[1:], *(k.value for k in node.keywords if k.arg == "dim")]
            if given and dims:
                yield from _sum_apart(node, name, given[0], dims[0])
        case ast.Call(func=ast.Attribute(attr=name), args=[x, *_]) if name in _HELD_FACTORS:
            made = standin("over_constant_factor", x, node)
            yield Edit("held", node, made, node, _HELD_FACTORS[name])


def _sum_apart(node: ast.expr, name: str, x: ast.expr, dim: ast.expr) -> Iterator[Edit]:
    part = "the sum" if name == "softmax" else "the log of the sum"
    for kind, times in _SHARES_OF_THE_SUM.items():
        made = standin(f"{name}_over", x, dim, ast.Constant(times))
        yield Edit(kind, node, made, node, part)
    if name == "log_softmax":
        made = standin("constant_over_sum", x, dim)
        yield Edit("held", node, made, node, f"`{ast.unparse(x)}` outside the sum")


def weighed_over_another_dim(node: ast.Call) -> Iterator[Edit]:
    """Normalize the weights of a sum of exponentials over another of its dims."""
    match node:
        case ast.Call(func=ast.Attribute(attr="logsumexp"), args=[x, dim, *_]):
            for other in (0, 1, -1):
                if ast.unparse(dim) != str(other):
                    made = standin("weighted_over", x, dim, numeral(other), node)
                    yield Edit("weighed", node, made, node, str(other))

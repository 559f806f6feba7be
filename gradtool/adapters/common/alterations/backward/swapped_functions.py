"""Repairs by which backward calls another function: the derivative of one that forward calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from gradtool.adapters.common.alterations.backward.known_backward import Backward
from gradtool.adapters.common.alterations.backward.repair import Repair
from gradtool.adapters.common.alterations.trees import parsed

_DERIVATIVES: Mapping[str, tuple[str, ...]] = {
    "lgamma": ("torch.digamma({x})",),
    "digamma": ("torch.polygamma(1, {x})",),
    "logsigmoid": ("torch.sigmoid(-{x})",),
    "softplus": ("torch.sigmoid({x})",),
    "logsumexp": ("torch.softmax({x}, -1)",),
    "atan": ("1 / (1 + {x} ** 2)",),
    "tanh": ("1 - torch.tanh({x}) ** 2",),
    "log1p": ("1 / (1 + {x})",),
    "sin": ("torch.cos({x})",),
    "cos": ("-torch.sin({x})",),
    "i0": ("torch.special.i1({x})",),
}
"""The derivatives of functions, by the names that forward calls them."""


def derivatives(forward: Sequence[ast.expr]) -> list[str]:
    """Return the derivatives of what forward calls, as code of ``{x}``."""
    names = [
        node.func.attr
        for node in forward
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    return [code for name in dict.fromkeys(names) for code in _DERIVATIVES.get(name, ())]


def swapped_functions(backward: Backward) -> Iterator[Repair]:
    """Put such a derivative in the place of a call, or of a variable."""
    for form in backward.derivatives:
        for calls in _of_one_function(backward.nodes):
            first, *rest = calls
            made = [_filled(form, ast.unparse(each.args[0])) for each in calls]
            also = tuple(zip(rest, made[1:], strict=True))
            yield Repair(first, made[0], first, also=also)
        for node in backward.nodes:
            if isinstance(node, ast.Name | ast.BinOp) and backward.array(node) is not None:
                for name in backward.held.like(node):
                    yield Repair(node, _filled(form, name), node)


def _of_one_function(nodes: Sequence[ast.expr]) -> Iterator[list[ast.Call]]:
    """The calls with one argument, by their function."""
    found: dict[str, list[ast.Call]] = {}
    for node in nodes:
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            found.setdefault(ast.dump(node.func), []).append(node)
    yield from found.values()


def _filled(form: str, x: str) -> ast.expr:
    code = form.replace("-{x}", "-({x})").replace("{x} **", "({x}) **").format(x=x)
    return parsed(code)

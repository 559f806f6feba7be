"""The shapes of what each argument meets in a recorded forward, and is broadcast against."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.common.recorded_steps import nodes_before
from gradtool.adapters.library import library
from gradtool.verify.protocol.observation import Cut, Primals

Shape = tuple[int, ...]

_BROADCASTING = re.compile(r"(Add|R?Sub|Mul|Div|Pow|Where|Maximum|Minimum|Atan2)Backward")
"""Matches the nodes of operations on the entries of two tensors."""


def met_shapes(bound: BoundFunction, primals: Primals) -> list[Shape | None]:
    """Return for each argument the result's shape of the first operation with another tensor.

    None where there is no such operation, or there are several, or the shape is unknown. Raises
    what the user's code or the library raises.
    """
    cuts: list[Cut] = []
    with library().torch.enable_grad():
        leaves, tensors = bound.arguments.tracked(primals)
        outputs = [out for out in library().record(bound, tensors, cuts) if _has_graph(out)]
        used_by = _uses([out.grad_fn for out in outputs])
        shapes = _shapes_of_results(used_by, outputs, leaves)
    by_leaf = {id(getattr(node, "variable", None)): node for node in used_by}
    return [
        None
        if cuts or leaf is None
        else _met(by_leaf.get(id(leaf)), used_by, shapes, tuple(leaf.shape))
        for leaf in leaves
    ]


def _has_graph(output: Any) -> bool:
    return output is not None and output.grad_fn is not None


def _uses(roots: Sequence[Any]) -> dict[Any, list[Any]]:
    """Return for each node that leads to some the nodes that use its result."""
    used_by: dict[Any, list[Any]] = {node: [] for node in nodes_before(roots)}
    for node in used_by:
        for source, _ in node.next_functions:
            if source is not None:
                used_by[source].append(node)
    return used_by


def _shapes_of_results(
    nodes: Iterable[Any], outputs: Sequence[Any], leaves: Sequence[Any]
) -> dict[Any, list[Shape | None]]:
    """Return the shapes of what nodes computed: those of the gradients that reach them."""
    shapes: dict[Any, list[Shape | None]] = {}
    with ExitStack() as hooks:
        for node in nodes:
            if not hasattr(node, "variable"):
                hooks.callback(node.register_prehook(partial(_note, shapes, node)).remove)
        ones = [library().torch.ones_like(output) for output in outputs]
        wanted = [leaf for leaf in leaves if leaf is not None]
        library().torch.autograd.grad(outputs, wanted, ones, allow_unused=True)
    return shapes


def _note(shapes: dict[Any, list[Shape | None]], node: Any, gradients: Sequence[Any]) -> None:
    shapes[node] = [None if each is None else tuple(each.shape) for each in gradients]


def _met(
    node: Any,
    used_by: Mapping[Any, list[Any]],
    shapes: Mapping[Any, list[Shape | None]],
    shape: Shape,
) -> Shape | None:
    """Follow a result through operations on its entries, to the one that has another tensor too.

    What has no gradient may be a number: it counts if it changes the shape, or is all there is.
    """
    beside_constant = None
    while node is not None:
        users = used_by[node]
        if len(users) != 1:
            break
        (node,) = users
        results = shapes.get(node, [])
        if len(results) == 1 and len(node.next_functions) > 1:
            if not _BROADCASTING.match(node.name()):
                break
            beside_constant = results[0]
            if results != [shape] or all(each is not None for each, _ in node.next_functions):
                break
        if results != [shape]:
            break
    return beside_constant

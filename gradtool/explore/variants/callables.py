"""Variants of a function among the arguments that backward runs once more."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gradtool.adapters.library import library
from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.source import forward_nodes
from gradtool.explore.reading.wording import wording

_DROPPED = 0.5
"""Part of the entries that become zero."""


def dropping(function: Any, point: Point) -> Iterator[Variant]:
    """Yield variants in which a function that is run again drops some of its results at random.

    What backward runs again has to drop the same ones. Only where the texts of the Function speak
    of recomputing: elsewhere a function may have to be the same at every call.
    """
    said = wording(function)
    if not said.recomputes or said.needs_same_results:
        return
    for at in point.plain:
        name, value = point.names[at], point.values[at]
        if callable(value) and _is_called(function, name):
            change = f"what `{name}` returns goes through a dropout"
            yield Variant(point.having({at: _with_dropout(value)}), change)


def _is_called(function: Any, name: str) -> bool:
    """Return True if forward calls the argument of that name."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for node in forward_nodes(function)
    )


def _with_dropout(block: Any) -> Any:
    """The block, then a dropout: a module if it is one, whose parameters may be asked for."""
    torch = library().torch
    if isinstance(block, torch.nn.Module):
        return torch.nn.Sequential(block, torch.nn.Dropout(_DROPPED))

    def dropped(*args: Any, **kwargs: Any) -> Any:
        return torch.nn.functional.dropout(block(*args, **kwargs), _DROPPED)

    return dropped

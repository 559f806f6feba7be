"""Runs of nodes in anomaly mode, which explain what fails by where it was made."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine.autograd._new_nodes import PARENT, TRACEBACK
from gradtool.engine.autograd._node import Node


def run_watched(node: Node, grad: Any, wanted: set[int] | None) -> Any:
    """Run a node of the walk, and refuse a NaN among the gradients that it computes.

    Raises:
        RuntimeError: there is one.
    """
    try:
        results = node._vjp(grad, wanted)
    except Exception:
        _explain(node)
        raise
    if modes.check_nan:
        _check(node, results)
    return results


def _check(node: Node, results: Any) -> None:
    for position, result in enumerate(results):
        # Only NaN differs from itself, for NumPy's arrays and CuPy's alike.
        if result is not None and bool((result._array != result._array).any()):
            _explain(node)
            raise RuntimeError(
                f"Function '{node._name()}' returned nan values in its {position}th output."
            )


def _explain(node: Node) -> None:
    """Warn with the traceback of the forward operation that made a node, and of its parents."""
    made = node.metadata.get(TRACEBACK)
    if made is None:
        text = (
            "No forward pass information available. Enable detect anomaly during forward pass "
            "for more information."
        )
    else:
        text = f"Traceback of forward call that caused the error:\n{''.join(made)}"
    _warn(f"Error detected in {node.name()}. {text}")
    parent = node.metadata.get(PARENT)
    while parent is not None:
        _warn(
            f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call "
            "that induced the previous calculation:\n" + "".join(parent.metadata.get(TRACEBACK, ()))
        )
        parent = parent.metadata.get(PARENT)


def _warn(message: str) -> None:
    """Warn; a warning that is an error is printed, as another error is under way."""
    try:
        warnings.warn(message, UserWarning, stacklevel=2)
    except UserWarning:
        traceback.print_exc()

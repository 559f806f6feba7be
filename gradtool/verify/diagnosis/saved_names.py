"""The names, in the source, of the tensors that forward saves."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from gradtool.verify.diagnosis.methods import method_trees
from gradtool.verify.protocol.observation import SourceLine


def intermediates(lines: Collection[SourceLine], saved: Sequence[str]) -> list[str]:
    """The expressions that are saved as intermediates; empty where the source does not tell.

    Args:
        lines: Lines of the Function's methods that ran.
        saved: What was saved, one each, as in `Baseline.saved`.
    """
    calls = [
        node
        for tree in method_trees(lines, ("forward", "setup_context"))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".save_for_backward")
    ]
    if len(calls) != 1 or len(calls[0].args) != len(saved):
        return []
    pairs = zip(calls[0].args, saved, strict=True)
    return [ast.unparse(argument) for argument, kind in pairs if kind == "intermediate"]


def assigned(lines: Collection[SourceLine], names: Collection[str]) -> dict[str, int]:
    """The line on which forward last assigns to each of `names`, where it does."""
    stored = [
        (node.lineno, node.id)
        for tree in method_trees(lines, ("forward",))
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names
    ]
    return {name: line for line, name in sorted(stored)}

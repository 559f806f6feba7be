"""Edits of a backward that weigh the first, last or inner entries of a tensor differently.

The spectrum of a real signal has bins that count once and bins that count twice, and a rule of
integration has ends that count half.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradtool.adapters.common.alterations.altered_code import shortened
from gradtool.adapters.common.alterations.edits import standin
from gradtool.adapters.common.alterations.noted_values import Value
from gradtool.adapters.common.alterations.omissions import Edit

_ENDS = ("first", "last", "inner")
_FACTORS = {2.0: "doubled", 0.5: "halved"}


def weighed_ends(nodes: Sequence[ast.expr], values: Mapping[ast.AST, Value]) -> Iterator[Edit]:
    """Yield the edits for tensors with entries along their last dim."""
    for node in nodes:
        value = values.get(node)
        if not isinstance(value, np.ndarray) or value.ndim < 1 or value.shape[-1] < 2:
            continue
        for end in _ENDS:
            for factor, done in _FACTORS.items():
                weighed = standin("weighed", node, ast.Constant(end), ast.Constant(factor))
                whole = shortened(ast.unparse(node))
                words = f"the {end} entries of `{whole}` along its last dim {done}"
                yield Edit(node, weighed, node, is_factor=True, words=words)

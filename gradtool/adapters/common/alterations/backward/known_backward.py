"""A backward whose repairs are sought, and what is known of it at its case."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np

from gradtool.adapters.common.alterations.backward.noted_forward import Noted
from gradtool.adapters.common.alterations.backward.places import expressions
from gradtool.adapters.common.alterations.backward.repair import Place
from gradtool.adapters.common.alterations.held import Held
from gradtool.adapters.common.alterations.noted_values import Value
from gradtool.verify.protocol.observation import Array


class Backward(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A backward, the values of its expressions, and those of forward."""

    tree: ast.FunctionDef
    attributes: Sequence[str]
    """Names of what forward keeps on ctx, such as ``scale``."""
    values: Mapping[ast.AST, Value] = {}
    """The values of its expressions."""
    fixed: Collection[ast.AST] = frozenset()
    """The expressions that do not depend on the cotangent."""
    forward: Sequence[Noted] = ()
    """The expressions of forward, those of different values."""
    derivatives: Sequence[str] = ()
    """The derivatives of what forward calls, as code of ``{x}``."""

    @cached_property
    def places(self) -> list[Place]:
        """The expressions that it computes, each with the one around it."""
        return list(expressions(self.tree))

    @cached_property
    def nodes(self) -> list[ast.expr]:
        """The expressions that it computes."""
        return [node for node, _ in self.places]

    @cached_property
    def held(self) -> Held:
        """Its variables, and what it finds on ctx."""
        own = self.tree.args.args
        context = own[0].arg if own else "ctx"
        return Held(self.tree, [f"{context}.{name}" for name in self.attributes], self.values)

    def number(self, node: ast.AST) -> int | float | None:
        """Return the value of a variable that is a plain number; None for anything else."""
        value = self.values.get(node) if isinstance(node, ast.Name | ast.Attribute) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if is_number else None

    def array(self, node: ast.AST) -> Array | None:
        """Return the value of an expression that is a tensor; None for any other."""
        value = self.values.get(node)
        return value if isinstance(value, np.ndarray) else None

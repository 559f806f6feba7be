"""The variables that an expression of backward may use instead of others."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradtool.adapters.common.alterations.noted_values import Value
from gradtool.adapters.common.alterations.trees import parsed

Shape = tuple[int, ...] | None
"""Of a tensor; None for a number."""


class Held:
    """The variables of a backward, and their shapes where these are known.

    Args:
        tree: Its definition.
        attributes: What it finds on ctx, such as ``ctx.scale``.
        values: The values of its expressions.
    """

    def __init__(
        self, tree: ast.FunctionDef, attributes: Sequence[str], values: Mapping[ast.AST, Value]
    ) -> None:
        self.names = [*variables(tree), *attributes]
        self._values = values
        self._lines = {node.id: node.lineno for node in reversed(_stores(tree))}
        self._shapes = {
            ast.unparse(node): _shape(value)
            for node, value in values.items()
            if isinstance(node, ast.Name | ast.Attribute)
        }

    @property
    def tensors(self) -> list[str]:
        """The variables that have axes, or of which that is not known."""
        return [name for name in self.names if self._shapes.get(name, (1,))]

    def like(self, node: ast.expr) -> Iterator[str]:
        """Yield the variables that may have the shape of an expression."""
        known = node in self._values
        shape = _shape(self._values[node]) if known else None
        for name in self.names:
            if not known or name not in self._shapes or self._shapes[name] == shape:
                yield name

    def factors(self, node: ast.expr) -> Iterator[ast.expr]:
        """Yield the expression with a factor or divisor more, for each that leaves its shape."""
        shape = _shape(self._values[node]) if node in self._values else ()
        for name in self.names:
            for code in spread(name, self._shapes.get(name, ()), shape):
                factor = parsed(code)
                yield ast.BinOp(node, ast.Mult(), factor)
                yield ast.BinOp(node, ast.Div(), factor)

    def extents(self, line: int) -> Iterator[str]:
        """Yield the extents of the tensors that are set before a line as code, each extent once.

        Those of last dims come first.
        """
        seen = {1}
        set_before = [name for name in self.names if self._lines.get(name, 0) < line]
        shapes = {name: shape for name in set_before if (shape := self._shapes.get(name))}
        for dim in range(1, 1 + max(map(len, shapes.values()), default=0)):
            for name, shape in shapes.items():
                if dim <= len(shape) and shape[-dim] not in seen:
                    seen.add(shape[-dim])
                    yield f"{name}.shape[{-dim}]"

    def rows(self, node: ast.expr) -> Iterator[ast.expr]:
        """Yield the expression times the first or last row of a variable with rows of its shape.

        The gradient of what a recurrence starts from lacks the factor of one step so.
        """
        shape = _shape(self._values[node]) if node in self._values else None
        for name in self.names if shape is not None else ():
            own = self._shapes.get(name)
            if own is not None and own[1:] == shape and len(own) > len(shape):
                for end in (0, -1):
                    yield parsed(f"({ast.unparse(node)}) * {name}[{end}]")


def spread(name: str, own: Shape, shape: Shape) -> Iterator[str]:
    """Yield the code of a tensor of one shape as a factor of one of another shape, if it is one."""
    if not own or not shape or fits(own, shape):
        yield name
    elif fits((*own, 1), shape):
        yield f"{name}.unsqueeze(-1)"


def fits(own: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Return True if a tensor of one shape is broadcast to another one."""
    try:
        return np.broadcast_shapes(own, shape) == shape
    except ValueError:
        return False


def _shape(value: Value) -> Shape:
    return value.shape if isinstance(value, np.ndarray) else None


def variables(tree: ast.FunctionDef) -> list[str]:
    """Return the names that a body may read: its cotangents, and what it sets."""
    given = [each.arg for each in tree.args.args[1:]]
    if tree.args.vararg is not None:
        given.append(tree.args.vararg.arg)
    return list(dict.fromkeys((*given, *(node.id for node in _stores(tree)))))


def _stores(tree: ast.FunctionDef) -> list[ast.Name]:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return [node for node in names if isinstance(node.ctx, ast.Store)]

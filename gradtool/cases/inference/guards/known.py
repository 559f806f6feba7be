"""`Known`: the values of names where a guard refused arguments, and the arguments they hold."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from gradtool.adapters.library import library
from gradtool.cases.inference.evaluation import MISSING
from gradtool.cases.inference.guards.conditions import Condition
from gradtool.cases.inference.guards.refusal import Refusal, Scene
from gradtool.cases.inference.trials import silenced


class Known(msgspec.Struct, frozen=True):
    """The values of names at a guard."""

    refusal: Refusal
    scene: Scene
    arguments: Sequence[str]
    """The names of the arguments of forward."""

    def value(self, node: ast.expr) -> Any:
        """The value of an expression of a test; `MISSING` if it raises."""
        try:
            expression = ast.fix_missing_locations(ast.Expression(node))
            with silenced():
                space = {**self.scene.namespace, **self.scene.variables}
                return eval(compile(expression, "<guard>", "eval"), space)
        except MemoryError:
            raise
        except Exception:  # The user's expression may raise anything.
            return MISSING

    def number(self, node: ast.expr) -> float | None:
        """The number that an expression is; None for anything else."""
        value = self.value(node)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return value

    def argument(self, name: str) -> str | None:
        """The argument of forward that a name stands for."""
        return self.refusal.argument_of(name, self.scene, self.arguments)

    def arguments_in(self, node: ast.AST) -> list[str]:
        """The arguments of forward that an expression mentions."""
        names = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
        return list(dict.fromkeys(filter(None, map(self.argument, names))))

    def is_met(self, condition: Condition) -> bool:
        """Return True if a condition holds for all entries."""
        value = self.value(condition.test)
        if isinstance(value, library().Tensor):
            value = library().array(value.detach())
        try:
            return bool(np.all(value)) if value is not MISSING else False
        except (TypeError, ValueError):
            return False
